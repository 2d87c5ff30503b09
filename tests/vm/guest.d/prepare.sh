# shellcheck shell=bash
# Everything a guest needs, into $cache: a stock Debian kernel with its modules (unpacked, not installed), vkms built
# out of tree against it (Debian's kernels leave CONFIG_DRM_VKMS unset; with several displays, vkms.sh) and an initramfs.
# Sourced by ../guest.

# shellcheck source=vkms.sh
. "$here/guest.d/vkms.sh"

# Bump when the contents of the cache change.
readonly cache_format=1
readonly kernel_series=6.12 # Debian 12 backports; vkms gained its exact timer in it
# Needed to reach the 9p root; then one list for each display device.
readonly modules_base="9pnet_virtio 9p overlay virtio_pci"
readonly modules_virtio="evdev uinput virtio-gpu"
readonly packages="busybox-static cpio kmod xz-utils gcc make libelf1 udev" backports="qemu-system-x86 seabios"
readonly modules_vkms_needs="evdev uinput drm_kms_helper drm_shmem_helper"

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 --no-install-recommends "$@"
}

prepare() {
    local force=
    [ "${1:-}" = --force ] && force=yes
    if [ -z "$force" ] && is_prepared; then return 0; fi
    . /etc/os-release
    if [ "${VERSION_CODENAME:-}" != bookworm ]; then
        fail "prepare is for Debian 12 (this is ${PRETTY_NAME:-unknown}). Elsewhere: install" \
            "qemu-system-x86_64 10 or later, put vmlinuz, modules/ (with vkms.ko) and initramfs.cpio into $cache"
    fi
    if [ "$(id -u)" != 0 ] && ! has_packages; then
        fail "please install as root: apt-get install $packages, and from backports: tests/debian-backports $backports"
    fi
    mkdir -p "$cache"
    exec {lock}>"$cache/lock"
    flock "$lock" # two test runs may start at once
    if [ -z "$force" ] && is_prepared; then return 0; fi

    local log=$cache/prepare.log status
    say "preparing $cache (log: $log)"
    set +e # not as a condition: no step of one would end it
    (set -e; prepare_steps) >"$log" 2>&1
    status=$?
    set -e
    if [ "$status" != 0 ]; then
        tail -n 20 "$log" >&2
        fail "prepare failed; the whole log is in $log"
    fi
    say "prepared in ${SECONDS} s: Linux $(cat "$cache/release"), $(qemu-system-x86_64 --version | head -n 1)"
}

has_packages() {
    # shellcheck disable=SC2086
    dpkg-query --show $packages $backports >/dev/null 2>&1 && qemu-system-x86_64 --version | grep -qE 'version [1-9][0-9]'
}

is_prepared() {
    [ "$(cat "$cache/stamp" 2>/dev/null)" = "$(stamp)" ] && command -v qemu-system-x86_64 >/dev/null
}

# Changes when the cache format or the guest's init changes.
stamp() { printf '%s %s\n' "$cache_format" "$(cat "$here"/guest.d/{init,stage2,prepare.sh,vkms.sh,displays.h} | sha256sum)"; }
# Changes when our part of vkms does.
vkms_stamp() { cat "$here"/guest.d/{vkms.sh,displays.h} | sha256sum; }

prepare_steps() {
    set -x
    rm -f "$cache/stamp"
    if ! has_packages; then
        # shellcheck disable=SC2086
        "$here/../debian-backports" $backports
        # shellcheck disable=SC2086
        apt install $packages
    fi
    if [ ! -s "$cache/vkms.ko" ] || [ ! -s "$cache/vmlinuz" ] || [ "$(cat "$cache/vkms.stamp" 2>/dev/null)" != "$(vkms_stamp)" ]; then
        local work
        work=$(mktemp -d "$cache/build.XXXXXX")
        fetch_kernel "$work"
        build_vkms "$work"
        rm -rf "$cache/modules" && mv "$work/kernel/lib/modules" "$cache/modules"
        mv "$work"/kernel/boot/vmlinuz-* "$cache/vmlinuz"
        mv "$work/vkms/vkms.ko" "$cache/vkms.ko"
        cat "$work/release" >"$cache/release"
        vkms_stamp >"$cache/vkms.stamp"
        rm -rf "$work"
    fi
    build_initramfs
    stamp >"$cache/stamp"
}

# Downloads the kernel image, its headers and its source, all of one version, and unpacks what is needed into $1.
fetch_kernel() {
    local work=$1 release version common
    release=$(apt-cache depends -t bookworm-backports linux-image-amd64 | sed -n "s/.*Depends: linux-image-\($kernel_series.*\)/\1/p" | head -n 1)
    [ -n "$release" ] || { echo "no kernel $kernel_series in bookworm-backports"; return 1; }
    common=${release%-amd64}
    version=$(apt-cache madison "linux-image-$release" | awk -F' *[|] *' 'NR == 1 { print $2 }')
    (
        cd "$work"
        apt download "linux-image-$release=$version" "linux-headers-$release=$version" \
            "linux-headers-$common-common=$version" "linux-kbuild-$common=$version" "linux-source-$kernel_series=$version"
        dpkg -x "linux-image-${release}"_*.deb kernel
        [ -d kernel/lib/modules ] || { mkdir -p kernel/lib && mv kernel/usr/lib/modules kernel/lib/; }
        for package in linux-headers-*.deb linux-kbuild-*.deb; do dpkg -x "$package" headers; done
        dpkg --fsys-tarfile "linux-source-$kernel_series"_*.deb | tar -xO "./usr/src/linux-source-$kernel_series.tar.xz" |
            tar -xJ --strip-components=4 "linux-source-$kernel_series/drivers/gpu/drm/vkms"
    )
    printf '%s\n' "$release" >"$work/release"
    depmod -b "$work/kernel" "$release"
}

build_vkms() {
    local work=$1 headers
    several_displays "$work/vkms"
    headers=$(ls -d "$work"/headers/usr/src/linux-headers-*-amd64)
    sed -i "s#/usr/src#$work/headers/usr/src#" "$headers/Makefile"
    # Without BTF the build needs neither pahole nor the kernel's own debug information.
    make -C "$headers" M="$work/vkms" CONFIG_DRM_VKMS=m CONFIG_DEBUG_INFO_BTF_MODULES= modules
    strip -g "$work/vkms/vkms.ko"
}

# busybox, the init and one directory of modules for each list, numbered in loading order.
build_initramfs() {
    local tree release
    tree=$(mktemp -d "$cache/initramfs.XXXXXX")
    release=$(cat "$cache/release")
    mkdir -p "$tree"/{bin,proc,sys,dev,lower,overlay,root,modules/{base,vkms,virtio}}
    cp "$(command -v busybox)" "$tree/bin/busybox"
    cp "$here/guest.d/init" "$tree/init"
    cp "$here/guest.d/stage2" "$tree/stage2"
    chmod +x "$tree/init" "$tree/stage2"
    mkdir -p "$tree/tmp/lib" && ln -s "$cache/modules" "$tree/tmp/lib/modules"
    # shellcheck disable=SC2086
    {
        copy_modules "$tree" "$release" base $modules_base
        copy_modules "$tree" "$release" virtio $modules_virtio
        copy_modules "$tree" "$release" vkms $modules_vkms_needs
    }
    cp "$cache/vkms.ko" "$tree/modules/vkms/999-vkms.ko"
    rm -rf "$tree/tmp"
    (cd "$tree" && find . | cpio -o -H newc --quiet) >"$cache/initramfs.cpio.new"
    mv "$cache/initramfs.cpio.new" "$cache/initramfs.cpio"
    rm -rf "$tree"
}

# copy_modules TREE RELEASE SET MODULE...: the modules with what they depend on, unless the base set has it already.
copy_modules() {
    local tree=$1 release=$2 set=$3 index=100 module path name
    shift 3
    for module in "$@"; do
        for path in $(/sbin/modprobe -d "$tree/tmp" -S "$release" --show-depends "$module" | awk '$1 == "insmod" { print $2 }'); do
            name=$(basename "${path%.xz}")
            compgen -G "$tree/modules/base/*-$name" >/dev/null && continue
            compgen -G "$tree/modules/$set/*-$name" >/dev/null && continue
            case $path in
            *.xz) xz -dc "$path" ;;
            *) cat "$path" ;;
            esac >"$tree/modules/$set/$index-$name"
            index=$((index + 1))
        done
    done
}

# shellcheck shell=bash
# Boots the guest and passes the command's output and status on. Sourced by ../guest.

run_guest() {
    local gpu=none accelerator=icount limit=600 out='' root=/ memory=2G verbose= displays=1
    while [ $# -gt 0 ]; do
        case $1 in
        --gpu) gpu=${2:-} && shift ;;
        --displays) displays=${2:-} && shift ;;
        --icount) accelerator=icount ;;
        --tcg) accelerator=tcg ;;
        --timeout) limit=${2:-} && shift ;;
        --out) out=${2:-} && shift ;;
        --root) root=${2:-} && shift ;;
        --memory) memory=${2:-} && shift ;;
        --verbose) verbose=yes ;;
        --) shift && break ;;
        *) usage "unknown option '$1'" ;;
        esac
        shift
    done
    [ $# -gt 0 ] || usage "no command to run"
    case $gpu in none | vkms | virtio | vkms+virtio) ;; *) usage "--gpu takes none, vkms, virtio or vkms+virtio, not '$gpu'" ;; esac
    case $displays in [1-4]) ;; *) usage "--displays takes 1 to 4, not '$displays'" ;; esac
    case $gpu$displays in vkms* | *1) ;; *) usage "--displays: only vkms has several" ;; esac
    case $limit in '' | *[!0-9]*) usage "--timeout takes whole seconds, not '$limit'" ;; esac
    [ -d "$root" ] || usage "--root: '$root' is not a directory"
    is_prepared || prepare

    control=$(mktemp -d "${TMPDIR:-/tmp}/upbeat-guest.XXXXXX")
    trap 'rm -rf "$control"' EXIT
    write_control "$out" "$@"
    boot "$gpu" "$displays" "$accelerator" "$limit" "$out" "$root" "$memory"
    finish "$verbose" "$limit"
}

# Environment and command for the guest's stage2.
write_control() {
    local out=$1
    shift
    printf '%q ' exec "$@" >"$control/command"
    printf '%s\n' "$PWD" >"$control/directory"
    # The guest's own /tmp, /run and /dev hide the host's, so these folders are mounted again.
    printf '%s\n' "$PWD" "$(readlink -f "$here/../..")" ${CARGO_TARGET_DIR:+"$(readlink -m "$CARGO_TARGET_DIR")"} |
        sort -u | grep -E '^/(tmp|run|dev|out)/' >"$control/shown" || true
    : >"$control/stdout"
    : >"$control/stderr"
    if [ -z "$out" ]; then : >"$control/no-out"; else mkdir -p "$out"; fi
}

# boot GPU DISPLAYS ACCELERATOR LIMIT OUT ROOT MEMORY: sets qemu_status and wall_seconds.
boot() {
    local gpu=$1 displays=$2 accelerator=$3 limit=$4 out=$5 root=$6 memory=$7
    local -a machine=(-M q35,i8042=off -nodefaults -no-user-config -display none -no-reboot -smp 1 -m "$memory")
    # Not "-cpu max": LLVM 15 (llvmpipe) aborts on it.
    machine+=(-cpu Nehalem)
    case $accelerator in
    # shift=1: 2 ns an instruction. sleep=off: when all are idle, jump to the next timer. A fixed date, since the
    # hardware clock may not show the host's.
    icount) machine+=(-accel tcg,thread=single,tb-size=512 -icount shift=1,sleep=off,align=off -rtc base=2026-01-01,clock=vm) ;;
    tcg) machine+=(-accel tcg,thread=multi,tb-size=512) ;;
    esac
    machine+=(-fsdev "local,id=root,path=$root,security_model=none,readonly=on,multidevs=remap"
        -device virtio-9p-pci,fsdev=root,mount_tag=root
        -fsdev "local,id=control,path=$control,security_model=none" -device virtio-9p-pci,fsdev=control,mount_tag=control)
    [ -z "$out" ] || machine+=(-fsdev "local,id=out,path=$(readlink -f "$out"),security_model=none"
        -device virtio-9p-pci,fsdev=out,mount_tag=out)
    case $gpu in
    *virtio) machine+=(-device virtio-gpu-pci,xres=1024,yres=768) ;;
    esac
    # QEMU's monitor is at the other end of the guest's second serial port, so that the guest can have its screen
    # photographed from outside (inside/outside.py). Both ends are this one QEMU.
    machine+=(-chardev "socket,id=port,path=$control/monitor,server=on,wait=off"
        -chardev "socket,id=monitor,path=$control/monitor" -mon chardev=monitor,mode=control)
    printf '%s\n' "$control" >"$control/host-path"
    # no_timer_check: the check measures the emulated timer against the host and sometimes panics.
    local kernel_options="console=ttyS0 quiet panic=-1 upbeat.gpu=$gpu upbeat.displays=$displays no_timer_check tsc=reliable mitigations=off"
    kernel_options+=" nokaslr norandmaps audit=0 selinux=0 apparmor=0 cryptomgr.notests"
    # The kernel thread that looks for huge pages would take the only CPU for 5 ms, at times that nothing in a run determines.
    kernel_options+=" transparent_hugepage=never"
    # The kernel's work for one display must not keep the only CPU from another display's work, as if there were several CPUs.
    [ "$displays" = 1 ] || kernel_options+=" preempt=full"

    local started=$EPOCHREALTIME
    timeout --kill-after=5 "$limit" qemu-system-x86_64 "${machine[@]}" -kernel "$cache/vmlinuz" -initrd "$cache/initramfs.cpio" \
        -serial "file:$control/serial" -serial chardev:port -append "$kernel_options" 2>"$control/qemu" </dev/null &
    local qemu=$!
    trap 'kill "$qemu" 2>/dev/null; rm -rf "$control"' EXIT
    trap 'exit 130' INT TERM
    tail -q --pid="$qemu" -s 0.2 -c +1 -f "$control/stdout" &
    local stdout_tail=$!
    tail -q --pid="$qemu" -s 0.2 -c +1 -f "$control/stderr" >&2 &
    local stderr_tail=$!
    qemu_status=0
    wait "$qemu" || qemu_status=$?
    wait "$stdout_tail" "$stderr_tail" || true
    trap 'rm -rf "$control"' EXIT
    wall_seconds=$(awk -v a="$started" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
}

# Exits with the command's status, or prints why there is none.
finish() {
    local verbose=$1 limit=$2 steps
    [ -z "$verbose" ] || tr -d '\r' <"$control/serial" >&2
    steps=$(tr -d '\r' <"$control/serial" | sed -n 's/^.*\[guest\] //p' | paste -sd ';' | sed 's/;/, /g')
    if [ -s "$control/status" ]; then
        say "${steps:-no word from the guest} (guest seconds); $wall_seconds s of wall time"
        exit "$(cat "$control/status")"
    fi
    if [ "$qemu_status" = "$status_timeout" ] || [ "$qemu_status" = 137 ]; then
        say "hung: the command was not finished after $limit s of wall time ($steps); it said last:"
        tail -n 5 "$control/stdout" "$control/stderr" >&2
        exit "$status_timeout"
    fi
    tr -d '\r' <"$control/serial" | tail -n 20 >&2
    cat "$control/qemu" >&2
    fail "the guest ended without a status (QEMU exited with $qemu_status; $steps)"
}

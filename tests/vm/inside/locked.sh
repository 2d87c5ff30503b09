# shellcheck shell=bash
# A locker while finished frames wait in the presenter. To be sourced by kms.

# The scanned-out picture shows no window after `locked`.
locked() {
    [ "$driver" = vkms ] || return 0
    session locked --renderer pixman
    foot --app-id still sleep 1000 >/dev/null 2>&1 &
    local terminal=$!
    promise "a window appears" soon windows_are 1
    sleep 2
    python3 "$here/locked.py" take 12 >"$results/locked.json"
    kill "$terminal" && wait "$terminal" 2>/dev/null || true
    promise "the session ends cleanly" end_session
    promise "if frames are queued when a lock begins, only the lock is shown after \`locked\`" \
        python3 "$here/locked.py" judge "$results/locked.json" "$results/locked.jsonl"
    promise "the log has no error" [ -z "$(grep -E ' ERROR |panicked' "$results/locked.log")" ]
}

#!/bin/sh
# Uses graphiti as a user does after an installation, with `graphiti` on the PATH. Prints the
# programs in the settings of an agent and in the service file. Needs the variable VERSION, and a
# mock of systemctl if there is no systemd.
set -eu

[ "$(graphiti --version)" = "graphiti $VERSION" ]
[ "$(graphitid --version)" = "graphitid $VERSION" ]
if command -v cargo >/dev/null; then
    echo "this machine has cargo"
    exit 1
fi

folder=$HOME/.claude/projects/-home-ann-app
mkdir -p "$folder"
record() {
    printf '{"type":"%s","uuid":"00000000-0000-4000-8000-00000000000%s","parentUuid":null,"sessionId":"s1","cwd":"/home/ann/app","timestamp":"%s:0%s.000Z","message":{"role":"%s","content":"%s"}}\n' \
        "$1" "$2" "$(date -u +%Y-%m-%dT%H:%M)" "$2" "$1" "$3"
}
record user 1 "Fix the parser for quokkas." >"$folder/s1.jsonl"
record assistant 2 "The parser takes quokkas now." >>"$folder/s1.jsonl"

graphiti setup --yes >/dev/null
program=$(sed -n 's/.*"command": "\(.*\) hook".*/\1/p' "$HOME/.claude/settings.json" | head -n 1 | tr -d '\\"')
graphiti up >/dev/null
graphiti status --wait >/dev/null
graphiti search quokkas | grep -q "quokkas"
printf '{"hook_event_name":"SessionEnd","session_id":"s1","reason":"clear"}' | "$program" hook
graphiti close s1 | grep -q s1
graphiti show s1 --json | grep -q hook_clear
graphiti stop >/dev/null

graphiti service install >/dev/null
daemon=$(sed -n 's/^ExecStart=//p' "$HOME/.config/systemd/user/graphitid.service")
"$daemon" --version >/dev/null
printf '%s %s\n' "$program" "$daemon"

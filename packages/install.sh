#!/bin/sh
# Installs graphiti for the user who runs it, into ~/.local/bin or the folder named by GRAPHITI_BIN.
# Needs curl or wget, tar, and sha256sum or shasum. GRAPHITI_URL names another place for the archives.
set -eu

# All in a function: nothing is run of a script that was cut off on its way.
main() {
    version=@VERSION@
    url=${GRAPHITI_URL:-@URL@}
    bin=${GRAPHITI_BIN:-$HOME/.local/bin}
    case $(uname -s)-$(uname -m) in
    # @CASES@
    *) fail "there is no package for $(uname -s) on $(uname -m)" ;;
    esac
    name=graphiti-$version-$target
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT

    if command -v curl >/dev/null; then
        curl -fsSL -o "$folder/archive" "$url/$name.tar.gz" || fail "cannot download $url/$name.tar.gz"
    else
        wget -qO "$folder/archive" "$url/$name.tar.gz" || fail "cannot download $url/$name.tar.gz"
    fi
    if command -v sha256sum >/dev/null; then
        found=$(sha256sum <"$folder/archive")
    else
        found=$(shasum -a 256 <"$folder/archive")
    fi
    [ "${found%% *}" = "$sum" ] || fail "$url/$name.tar.gz has the checksum ${found%% *} instead of $sum: nothing was installed"

    tar -xzf "$folder/archive" -C "$folder"
    mkdir -p "$bin"
    for program in graphiti graphitid; do
        # Renamed into its place, because a program that runs cannot be written to.
        cp "$folder/$name/bin/$program" "$bin/.$program.new"
        mv -f "$bin/.$program.new" "$bin/$program"
    done
    echo "graphiti $version is in $bin"
    case :$PATH: in
    *":$bin:"*) ;;
    *) echo "Add $bin to your PATH." ;;
    esac
    echo "Next: graphiti setup && graphiti service install"
}

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

main

#!/bin/bash
# Builds the wheel, installs it into a fresh virtual environment, and runs there its examples, its own tests, and those of SciPy,
# NumPy and dask-image. Tools and libraries are taken from the registry once, into target/python-tools and target/python-wheels:
# `check.sh fetch` does that alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CARGO_INCREMENTAL=0
tools=target/python-tools fresh=target/python-fresh wheels=target/python-wheels
pip=(-m pip --disable-pip-version-check --quiet)
# Newer versions may have new tests: the lists of cases that do not pass are of these. Ray Data, a download of 148 MB, is left
# out; its test is skipped.
dask=dask-image==2026.5.0
libraries=(numpy==2.4.6 scipy==1.17.1 pytest==9.2.0 hypothesis opencv-python-headless==5.0.0.93 scikit-image==0.26.0 "$dask"
    distributed==2026.8.0 zarr==3.1.6)
listed="${libraries[*]}, and the source of $dask"

# Package servers fail now and then.
retry() {
    local attempt
    for attempt in 1 2 3 4 5; do
        "$@" && return
        echo "attempt $attempt failed: $*" >&2
        sleep $((attempt * 10))
    done
    return 1
}

if ! "$tools/bin/maturin" --version >/dev/null 2>&1 || ! "$tools/bin/python" -m ziglang version >/dev/null 2>&1; then
    python3 -m venv --clear "$tools"
    retry "$tools/bin/python" "${pip[@]}" install 'maturin==1.16.*' ziglang
fi
if [ "$(cat "$wheels/list" 2>/dev/null)" != "$listed" ]; then
    rm -rf "$wheels"
    retry "$tools/bin/python" "${pip[@]}" download --only-binary :all: --dest "$wheels" "${libraries[@]}"
    # Its wheel has no tests.
    retry "$tools/bin/python" "${pip[@]}" download --no-binary dask-image --no-deps --dest "$wheels" "$dask"
    echo "$listed" >"$wheels/list"
fi

if [ "${1:-}" = fetch ]; then
    exit
fi

echo '== the wheel'
rm -f target/wheels/apron_gpu-*.whl
# Zig links against the glibc of manylinux_2_28; as the linker of the last crate alone, so that all others are compiled once for all
# uses. What maturin's own option --zig does for another target, for which all are compiled again.
export PATH="$PWD/$tools/bin:$PATH"
linker=$PWD/$tools/bin/zig-cc
printf '#!/bin/sh\nexec maturin zig cc -- -target x86_64-linux-gnu.2.28 "$@"\n' >"$linker"
chmod +x "$linker"
maturin build --quiet --release --compatibility manylinux_2_28 --manifest-path crates/python/Cargo.toml \
    --interpreter "$PWD/$tools/bin/python" -- -C "linker=$linker"
wheel=$(ls target/wheels/apron_gpu-*-cp311-abi3-manylinux_2_28_x86_64.whl)
size=$(stat -c %s "$wheel")
echo "$wheel: $size bytes"
if [ "$size" -ge 20000000 ]; then
    echo "the wheel has $size bytes, but must have less than 20000000" >&2
    exit 1
fi

echo '== in a fresh virtual environment'
python3 -m venv --clear "$fresh"
# Of the libraries a few modules are used: those are compiled when they are.
"$fresh/bin/python" "${pip[@]}" install --no-compile --no-index --find-links "$wheels" "$wheel" "${libraries[@]}"
python=$PWD/$fresh/bin/python
# Away from the sources: what is installed is tried.
cd "$(mktemp -d)"
tests=$OLDPWD/crates/python/tests
"$python" -c 'import apron, numpy; print(apron.ndimage.uniform_filter(numpy.arange(9.0), 3))'
"$python" "$tests/doctests.py"
# Other people's tests beside Apron's own: most of both run on one core.
others() {
    "$python" "$tests/scipy_filters.py"
    "$python" "$tests/numpy_histograms.py"
    "$python" "$tests/dask_filters.py" "$1"
}
others "$OLDPWD/$wheels"/dask_image-*.tar.gz >others.log 2>&1 &
"$python" -m pytest -q -p no:cacheprovider "$tests"
wait $! || {
    cat others.log
    exit 1
}
cat others.log

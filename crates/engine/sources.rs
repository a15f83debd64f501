//! Pins the sources that build.sh compiles.

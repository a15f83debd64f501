//! Links the addon the way Node expects it.

fn main() {
    napi_build::setup();
}

//! Links the addon the way Node expects it.

fn main() {
    napi_build::setup();
    // The name by which other libraries would load this one. Otherwise it is the path of the build.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "macos") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/tenon.node");
    }
}

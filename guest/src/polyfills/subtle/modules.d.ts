/** The core modules of `crates/bridge/crypto`, which the build links to the component. */
declare module "tenon-crypto:*" {
  export const memory: object;
}

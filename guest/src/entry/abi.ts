/** The names that generated code shares with the SDK, from the package itself: a project need not have that. */
export * from "@tenon/sdk/abi";

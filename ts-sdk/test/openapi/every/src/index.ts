export * from "./reading.ts";
export * from "./schemas.ts";

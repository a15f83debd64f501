import { wasm } from "@tenon/sdk/testing";
import { defineConfig } from "vitest/config";

export default defineConfig({ plugins: [wasm()] });

/// <reference lib="esnext.disposable" preserve="true" />
/** The embedding API of Tenon: the runtime inside a Node program. */

export { HttpSidecar, type HttpSidecarOptions } from "./embed/http-sidecar.ts";
export type { Handle, NodeRequest, NodeResponse } from "./embed/listener/node-http.ts";
export type { LogRecord } from "./embed/log.ts";
export { type Migrated, type MigrateOptions, migrate } from "./embed/migrate.ts";
export type { ModuleFile } from "./embed/module-source.ts";
export { Runtime } from "./embed/runtime.ts";
export type {
  InProcessSidecar,
  ListenOptions,
  ModuleLimits,
  ModuleOptions,
  RecordOptions,
  RuntimeOptions,
} from "./embed/runtime-options.ts";
export type { BudgetRemainder, BudgetState, Listening, Page, RecentRequest } from "./embed/runtime-state.ts";
export { Services, type ServicesOptions } from "./embed/services.ts";
export { Sidecar, type SidecarKind, type SidecarOptions } from "./embed/sidecar.ts";
export type { RequestUsage } from "./embed/usage.ts";
export { type ErrorCode, TenonError } from "./errors.ts";
export type { Limits } from "./limits.ts";
export { version } from "./package.ts";
export type { ModuleBudget } from "./project/config/budgets.ts";
export type { SandboxLimitName, SandboxLimits } from "./sandbox/limits.ts";
export type {
  Evaluated,
  EvaluateOptions,
  EvaluationError,
  EvaluationLog,
  EvaluationUsage,
  Sandbox,
  SandboxOptions,
} from "./sandbox/sandbox.ts";
export {
  type AnySchema,
  type AnyTool,
  PublicError,
  type Tool,
  type ToolCall,
  type ToolOptions,
  type Tools,
  tool,
  type ValidationIssue,
  type ValidationResult,
  type ValueSchema,
} from "./sandbox/tool.ts";

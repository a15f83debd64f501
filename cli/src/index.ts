/// <reference lib="esnext.disposable" preserve="true" />
/** The embedding API of Tenon: the runtime inside a Node program. */

export { HttpSidecar, type HttpSidecarOptions } from "./embed/http-sidecar.ts";
export { type Migrated, type MigrateOptions, migrate } from "./embed/migrate.ts";
export {
  type BudgetRemainder,
  type BudgetState,
  type Handle,
  type InProcessSidecar,
  type Listening,
  type ListenOptions,
  type LogRecord,
  type ModuleBudget,
  type ModuleFile,
  type ModuleLimits,
  type ModuleOptions,
  type NodeRequest,
  type NodeResponse,
  type Page,
  type RecentRequest,
  type RecordOptions,
  type RequestUsage,
  Runtime,
  type RuntimeOptions,
} from "./embed/runtime.ts";
export { Services, type ServicesOptions } from "./embed/services.ts";
export { Sidecar, type SidecarKind, type SidecarOptions } from "./embed/sidecar.ts";
export { type ErrorCode, TenonError } from "./errors.ts";
export type { Limits } from "./limits.ts";
export { version } from "./package.ts";
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

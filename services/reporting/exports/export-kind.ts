import type { ReportingServiceConfig } from "../config.ts";

export type ExportKindName = "bulk" | "accounting";

/** What the rows of a kind of exports contain, as JSON. */
export interface ExportTypes {
  request: object;
  /** How far the export is. Empty before the first file. */
  progress: object;
  /** What a file has in addition to its name, its size and its hash. */
  fileDetails: object;
  failure: object;
}

/** How the exports of a kind are run and limited. */
export interface ExportKind<Types extends ExportTypes> {
  name: ExportKindName;
  auditType: "export" | "accounting_export";
  /** The beginning of the keys of the files' objects. Backups of Docker Compose leave out those under `exports/`. */
  objectFolder: "exports" | "accounting";
  /** Maximum number of exports that one instance runs at a time. */
  concurrency: number;
  isOneAtATimePerLocation: boolean;
  /** Maximum number of attempts in succession that fail without a new file. An attempt that crashed counts as three. */
  maxFailedAttempts: number;
  retentionDays(config: ReportingServiceConfig): number;
  /** The limit of unfinished exports per location, or per API key for exports of several locations. */
  unfinishedLimit(config: ReportingServiceConfig): { name: string; maximum: number };
  /**
   * Returns the failure of an export whose last attempt failed. Without it, the export is claimed once more to end itself.
   */
  toFailure?(error: unknown): Types["failure"];
}

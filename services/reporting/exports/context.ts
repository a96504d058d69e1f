import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { ReportingContext } from "../context.ts";
import type { ExportKindName } from "./export-kind.ts";

export interface ExportsContext extends ReportingContext {
  /** For each kind of exports: claims queued exports now, without waiting for the next regular poll. */
  pollExports: Record<ExportKindName, () => void>;
}

export const defineExportRoute = createRouteDefiner<ExportsContext>();

import type { Health } from "@pragma/contracts/health";

const apiVersions = ["v1", "v2"];

/** What `/health/` answers: this instance takes requests. Whether what stands behind it is well is for operators. */
export function healthOf({ startedAt, docsUrl }: { startedAt: number; docsUrl: string }): Health {
  return { status: "ok", uptime: (performance.now() - startedAt) / 1000, docURL: docsUrl, apiVersions };
}

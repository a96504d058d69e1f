// Usage: PRAGMA_API_KEY=… npx tsx follow.mts copy.json
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { type ApiSchemaTypes, createApiClient, nullOnProblem } from "@pragma/client";

const { PRAGMA_URL = "http://127.0.0.1:4000", PRAGMA_API_KEY = "" } = process.env;
const client = createApiClient({ baseUrl: PRAGMA_URL, apiKey: PRAGMA_API_KEY });
const file = process.argv[2] ?? "copy.json";

/** The copy and the cursor of its last change, which are always stored together. */
const state: { after?: string; reports: Record<string, unknown>; orders: Record<string, unknown> } = existsSync(file)
  ? JSON.parse(readFileSync(file, "utf8"))
  : { reports: {}, orders: {} };

/** Returns the current report or order; null if it no longer exists. */
async function get({ type, action, id }: ApiSchemaTypes["Change"]) {
  if (action === "removed") return null;
  const options = { params: { path: { id } } };
  // A later change can have removed it. Its entry follows.
  return type === "report"
    ? nullOnProblem(client.GET("/v2/reports/{id}", options), "report_not_found")
    : nullOnProblem(client.GET("/v2/orders/{id}", options), "order_not_found");
}

for (;;) {
  const query = { after: state.after, types: "report,order", wait: 25 };
  const { data: page } = await client.GET("/v1/changes", { params: { query } });
  for (const change of page.data) {
    const copies = change.type === "report" ? state.reports : state.orders;
    const current = await get(change);
    if (current) copies[change.id] = current.data;
    else delete copies[change.id];
  }
  state.after = page.nextCursor;
  // The file is replaced at once, so that a crash leaves the previous copy with its cursor.
  writeFileSync(`${file}.new`, JSON.stringify(state));
  renameSync(`${file}.new`, file);
  for (const { type, action, id, revision } of page.data) console.log(`${type} ${id}: ${action}, revision ${revision}`);
}

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { repositoryFolder } from "./setup.mjs";
import { createTestScratchFolder } from "./testing/scratch-folder.ts";

const forbiddenImports = [
  ["contracts/a.ts", "@pragma/runtime/config/runtime-config"],
  ["contracts/b.ts", "../services/_runtime/config/runtime-config.ts"],
  ["services/_runtime/a.ts", "@pragma/accounts/service"],
  ["services/_runtime/b.ts", "../accounts/service.ts"],
  ["services/_runtime/c.ts", "../../deploy/local/servers.ts"],
  ["services/_runtime/object-store/a.ts", "../../../contracts/money.ts"],
  ["services/accounts/a.ts", "@pragma/reporting/service"],
  ["services/accounts/b.ts", "@pragma/gateway/app"],
  ["services/accounts/c.ts", "../reporting/service.ts"],
  ["services/accounts/routes/a.ts", "../../reporting/routes/list.ts"],
  ["services/accounts/routes/b.ts", "../../../gateway/src/app.ts"],
  ["services/accounts/routes/c.ts", "../../_runtime/database/postgres.ts"],
  ["services/reporting/calculation/a.ts", "../days/compute-day.ts"],
  ["services/reporting/documents/queries/b.ts", "../../metrics/queries/metrics.ts"],
  ["services/reporting/metrics/c.ts", "../exports/run-export.ts"],
  ["services/reporting/accounting/routes/d.ts", "../../store-report.ts"],
  ["services/reporting/days/f.ts", "../e-reporting/queries/figures.ts"],
  ["services/reporting/e-reporting/g.ts", "../retention/expire-tills.ts"],
  ["services/reporting/documents/e.ts", "@pragma/accounts/service"],
  ["services/a.ts", "./accounts/service.ts"],
  ["services/b.ts", "../gateway/src/main.ts"],
  ["services/c.ts", "@pragma/simulator/demo"],
  ["services/commands/a.ts", "../accounts/service.ts"],
  ["gateway/src/a.ts", "@pragma/accounts/service"],
  ["gateway/src/b.ts", "@pragma/services/main"],
  ["gateway/src/c.ts", "../../services/accounts/service.ts"],
  ["gateway/src/d.ts", "@pragma/client/api-client"],
  ["mcp/a.ts", "@pragma/gateway/main"],
  ["mcp/b.ts", "@pragma/runtime/config/runtime-config"],
  ["mcp/tools/c.ts", "../../gateway/src/main.ts"],
  ["client/a.ts", "@pragma/runtime/config/runtime-config"],
  ["client/b.ts", "../simulator/src/demo.ts"],
  ["client/c.ts", "@pragma/simulator/demo"],
  ["console/src/a.ts", "@pragma/contracts/money"],
  ["console/src/b.tsx", "../../client/index.ts"],
  ["simulator/src/a.ts", "@pragma/runtime/config/runtime-config"],
  ["simulator/src/b.ts", "../../services/_runtime/config/runtime-config.ts"],
  ["tests/a.ts", "../gateway/src/main.ts"],
  ["bench/a.ts", "../gateway/src/main.ts"],
  ["deploy/local/a.mjs", "zod"],
  ["deploy/local/b.mjs", "../../contracts/money.ts"],
] as const;

const allowedImports = [
  ["contracts/z.ts", "./money.ts"],
  ["contracts/y.ts", "zod"],
  ["services/_runtime/z.ts", "@pragma/contracts/money"],
  ["services/_runtime/testing/z.ts", "../../../deploy/local/servers.ts"],
  ["services/accounts/routes/z.ts", "@pragma/runtime/database/postgres"],
  ["services/reporting/documents/routes/z.ts", "../../context.ts"],
  ["services/reporting/accounting/y.ts", "../exports/run-export.ts"],
  ["services/reporting/e-reporting/x.ts", "../documents/queries/document-body.ts"],
  ["services/reporting/documents/queries/x.ts", "../order-texts.ts"],
  ["services/reporting/w.ts", "./metrics/till-metrics.ts"],
  ["services/z.ts", "@pragma/accounts/service"],
  ["services/y.ts", "@pragma/gateway/main"],
  ["services/commands/z.ts", "../definitions.ts"],
  ["gateway/src/z.ts", "@pragma/runtime/config/runtime-config"],
  ["gateway/src/y.ts", "@pragma/mcp/answer-message"],
  ["mcp/y.ts", "@pragma/client/api-client"],
  ["mcp/z.ts", "@pragma/contracts/metrics"],
  ["client/z.ts", "@pragma/contracts/errors"],
  ["simulator/src/y.ts", "@pragma/client/create-client"],
  ["simulator/src/z.ts", "@pragma/contracts/money"],
  ["tests/z.ts", "@pragma/services/main"],
  ["console/src/z.ts", "@pragma/client"],
  ["tests/y.ts", "../deploy/local/servers.ts"],
  ["bench/z.ts", "@pragma/services/definitions"],
  ["deploy/local/z.mjs", "node:timers/promises"],
  ["deploy/local/y.mjs", "./terminal.mjs"],
] as const;

it("forbids imports against the direction of the layers, and no other imports", () => {
  const folder = createTestScratchFolder();
  copyFileSync(join(repositoryFolder, "biome.imports.json"), join(folder, "biome.imports.json"));
  writeFileSync(join(folder, "biome.json"), '{ "extends": ["./biome.imports.json"] }');
  for (const [file, specifier] of [...forbiddenImports, ...allowedImports]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `export { thing } from "${specifier}";\n`);
  }
  const { stdout } = spawnSync(
    join(repositoryFolder, "node_modules", ".bin", "biome"),
    ["lint", "--only=style/noRestrictedImports", "--reporter=json", "--max-diagnostics=none", "."],
    { cwd: folder, encoding: "utf8" },
  );
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { category: string; location: { path: string } }[] };
  const reportedPaths = diagnostics
    .filter(({ category }) => category === "lint/style/noRestrictedImports")
    .map(({ location }) => location.path);
  expect(reportedPaths.sort()).toEqual(forbiddenImports.map(([file]) => file).sort());
});

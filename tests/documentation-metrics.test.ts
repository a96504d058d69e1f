import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  describeMetricValue,
  getMetricDimension,
  getMetricMeasure,
  listDimensionFields,
  metricDimensionGroupNames,
  metricDimensionGroups,
  metricDimensionNames,
  metricMeasureNames,
} from "@pragma/contracts/metric-definitions";
import { metricLimits } from "@pragma/contracts/metrics-query";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { expect, it } from "vitest";

const repositoryFolder = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")), "..");
const page = readFileSync(join(repositoryFolder, "docs-portal", "docs", "metrics.mdx"), "utf8");

const formatTable = (header: string[], rows: string[][]) =>
  [header, header.map(() => "---"), ...rows]
    .map((cells, index) => (index === 1 ? `|${cells.join("|")}|` : `| ${cells.join(" | ")} |`))
    .join("\n");

const tables = {
  measures: formatTable(
    ["Measure", "Unit", "Meaning", "Equals the sum of", "Can be combined with"],
    metricMeasureNames.map((name) => {
      const { unit, description, equals, additionalGroups } = getMetricMeasure(name);
      const groups = ["orders", ...(additionalGroups ?? []).map((group) => `${group}s`)].join(", ");
      return [`\`${name}\``, unit, description, equals ?? "", groups];
    }),
  ),
  dimensions: formatTable(
    ["Dimension", "Group", "Meaning", "Values"],
    metricDimensionNames.map((name) => {
      const { group, description } = getMetricDimension(name);
      const fields = listDimensionFields(name).map((field) => `\`${field.name}\``);
      return [`\`${name}\``, group, description, fields.join(", ") || describeMetricValue(name).type];
    }),
  ),
  groups: formatTable(
    ["Group", "Can be combined with"],
    metricDimensionGroupNames.map((name) => [name, metricDimensionGroups[name].join(", ")]),
  ),
};

it.each(Object.entries(tables))("the guide about metrics has the table of %s", (_, table) => {
  expect(page).toContain(table);
});

it("the guide about metrics states the limits of queries", () => {
  expect(page).toContain(`up to ${metricLimits.days} days`);
  expect(page).toContain(`up to ${metricLimits.rows.toLocaleString("en-US")}.`);
  expect(page).toContain(`up to ${metricLimits.locations} locations`);
  expect(page).toContain(`at most ${metricLimits.rowsBeforeLimit.toLocaleString("en-US")} rows`);
});

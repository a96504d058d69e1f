import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Day, dayCheckDescriptions, dayReasonDescriptions } from "@pragma/contracts/day";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { expect, it } from "vitest";

const repositoryFolder = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")), "..");
const page = readFileSync(join(repositoryFolder, "docs-portal", "docs", "days.mdx"), "utf8");

/** Returns the codes in the first column of the table whose header begins with `title`. */
function listTableCodes(title: string): string[] {
  const [, rows = ""] = new RegExp(`^\\| ${title} \\|.*\\n\\|[-|]+\\|\\n((?:\\|.*\\n)+)`, "m").exec(page) ?? [];
  return rows
    .split("\n")
    .map((row) => row.split("|")[1] ?? "")
    .flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, code = ""]) => code));
}

it.each([
  { title: "Check", codes: Object.keys(dayCheckDescriptions) },
  { title: "Reason", codes: Object.keys(dayReasonDescriptions) },
  { title: "State", codes: Day.shape.state.options },
])("the guide about business days has a row for each $title, once, and no other rows", ({ title, codes }) => {
  expect(listTableCodes(title).toSorted()).toEqual(codes.toSorted());
});

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { expect, it } from "vitest";

/*
 * The documents for contributors and operators name code in backticks. These tests find names that no longer exist: an
 * identifier must occur in a tracked file that is not a document, a path must exist, and a command must be in package.json.
 */

const root = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/client/api-client")), "..");
const listTracked = (...patterns: string[]) =>
  execFileSync("git", ["ls-files", ...patterns], { cwd: root, encoding: "utf8" })
    .trim()
    .split("\n")
    .filter(existsInRoot);
const tracked = listTracked();
const documents = tracked.filter((path) => /^(?:README|CONTRIBUTING)\.md$|^docs\/.*\.md$/.test(path));

/** All words in the code. The prefixes and suffixes that programs add to names are left out of the names below. */
const words = new Set(
  tracked
    .filter((path) => !/\.(?:mdx?|json\.gz|svg|png|ico|woff2)$|package-lock\.json$|documented-code-names/.test(path))
    .flatMap((path) => readFileSync(join(root, path), "utf8").match(/\w+/g) ?? []),
);
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> };

/** Names that no file contains, because another program defines them or a rule makes them. */
const otherNames = [
  "n_dead_tup", // a column of PostgreSQL's statistics
  "orders_p31", // the last of 32 partitions
  "PROXY_PORT", // a former variable
];

/** Returns the name as the code has it: the exporter adds `_total` to counters, and services read families of variables. */
const toCodeName = (name: string) => name.replace(/_total$/, "").replace(/^.*(?=_CONCURRENCY$|_KEYS$)/, "");

/** Yields the texts in backticks of a document, without its blocks of code. */
function* listCodeSpans(path: string): Generator<string> {
  const text = readFileSync(join(root, path), "utf8").replaceAll(/^ *```[\s\S]*?^ *```/gm, "");
  for (const [, span = ""] of text.matchAll(/`([^`\n]+)`/g)) yield span;
}

const findInDocuments = (isWrong: (span: string, document: string) => boolean) =>
  documents.flatMap((document) =>
    [...listCodeSpans(document)].filter((span) => isWrong(span, document)).map((span) => `${document}: ${span}`),
  );

function existsInRoot(path: string): boolean {
  return existsSync(join(root, path));
}

/** Returns whether a path, relative to the repository or to the document, matches a tracked file or a folder of one. */
function isTrackedPath(path: string, document: string): boolean {
  const pattern = path
    .replace(/\/$/, "")
    .replaceAll(/[.+()]/g, "\\$&")
    .replaceAll(/\*\*?|<\w+>|NNN_what/g, "[^/]+")
    .replaceAll(/\{([\w,-]+)\}/g, (_, names: string) => `(?:${names.replaceAll(",", "|")})`);
  const folders = ["", dirname(document), "deploy/kubernetes/pragma"].filter((folder) => folder !== ".");
  return folders.some((folder) => {
    const expression = new RegExp(`^${folder === "" ? "" : `${folder}/`}${pattern}(?:/|$)`);
    return tracked.some((file) => expression.test(file));
  });
}

it("the identifiers in the documents exist in the code", () => {
  const isUnknown = (span: string) => {
    const [, name] = /^(?:[a-z]\w*\.)?([A-Za-z_]\w+)(?:\(.*\))?(?:\{[\w, ]+\})?$/.exec(span) ?? [];
    return name !== undefined && !otherNames.includes(name) && !words.has(name) && !words.has(toCodeName(name));
  };
  expect(findInDocuments(isUnknown)).toEqual([]);
});

it("the files and folders in the documents exist", () => {
  const topFolders = new Set(tracked.filter((path) => path.includes("/")).map((path) => path.split("/")[0]));
  const isMissing = (span: string, document: string) => {
    const [top = ""] = span.split("/");
    const isPath = /^[\w./<>*{},-]+$/.test(span) && span.includes("/");
    return isPath && topFolders.has(top) && !isTrackedPath(span, document);
  };
  expect(findInDocuments(isMissing)).toEqual([]);
});

it("the npm commands in the documents exist", () => {
  const isUnknown = (span: string) => {
    const [, script] = /\bnpm run (?:--\w+ )*([\w:-]+)/.exec(span) ?? [];
    return script !== undefined && !(script in scripts);
  };
  expect(findInDocuments(isUnknown)).toEqual([]);
});

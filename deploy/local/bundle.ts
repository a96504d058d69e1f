/**
 * `node --import tsx deploy/local/bundle.ts`: bundles the API, its commands and the demo, with their packages, into the folder `build`.
 * A process that loads a few large files starts in less than half of the CPU time that a thousand small ones take.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import type { PluginBuild } from "esbuild";
import { repositoryFolder } from "./setup.mjs";

/** The folder of the bundle. It has the structure of the repository, with `.js` instead of `.ts`. */
export const bundleFolder = join(repositoryFolder, "build");

const programs = [
  "services/main",
  "services/commands/backup",
  "services/commands/migrate",
  "services/commands/ops",
  "simulator/src/demo",
  "simulator/src/demo-live",
];

/** The modules of worker threads, which load them by their paths. */
const threads = [
  "services/catalog/parse-catalog-body",
  "services/order-live/orders-body",
  "services/reporting/accounting/write-till-entries",
  "services/reporting/calculation-thread",
  "services/reporting/exports/bulk/export-worker",
  "services/till-ingest/validation/parse-till-body",
];

/** Packages that load files by paths, which a bundle does not keep, such as workers and pages. They are copied. */
const copiedPackages = ["piscina", "@napi-rs", "@bull-board/ui"];

/** Gives packages that are written for `require` this function, which ES modules do not have. */
const requireFunction =
  'import { createRequire as createBundleRequire } from "node:module"; const require = createBundleRequire(import.meta.url);';

/** Inputs that esbuild does not know. */
const otherInputs = ["package-lock.json", "deploy/local/bundle.ts"];

const inputsFile = join(bundleFolder, "inputs.json");

/** Bundles the product if a file has changed. Keeps earlier files for a day, because processes load some later. */
export async function bundleProduct(): Promise<void> {
  if (isUpToDate()) return;
  // Loaded here, because a start that has nothing to bundle does not need it.
  const { build } = await import("esbuild");
  const { metafile } = await build({
    absWorkingDir: repositoryFolder,
    entryPoints: [...programs, ...threads].map((path) => `${path}.ts`),
    outdir: bundleFolder,
    outbase: ".",
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    conditions: ["source"],
    mainFields: ["module", "main"],
    external: copiedPackages,
    banner: { js: requireFunction },
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: true,
    metafile: true,
    logLevel: "error",
    plugins: [{ name: "module-paths", setup: keepModulePaths }],
  });
  const files = copyReadFiles();
  removeOldChunks(Object.keys(metafile.outputs));
  writeFileSync(join(bundleFolder, "package.json"), '{ "private": true, "type": "module" }\n');
  writeFileSync(inputsFile, JSON.stringify([...Object.keys(metafile.inputs), ...files, ...otherInputs]));
}

function isUpToDate(): boolean {
  if (!existsSync(inputsFile)) return false;
  const { mtimeMs: bundledAt } = statSync(inputsFile);
  const inputs: string[] = JSON.parse(readFileSync(inputsFile, "utf8"));
  return inputs.every((path) => {
    const file = statSync(join(repositoryFolder, path), { throwIfNoEntry: false });
    return file !== undefined && file.mtimeMs < bundledAt;
  });
}

/**
 * Keeps the paths of modules: `import.meta.url` of the module `services/jobs/service.ts` is `build/services/jobs/service.js`,
 * in whichever bundled file it is. The client's copy of the list of currencies is read from its source.
 */
function keepModulePaths(build: PluginBuild): void {
  build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
    const source = readFileSync(path, "utf8");
    if (path.includes("/node_modules/") || !source.includes("import.meta.url")) return;
    const bundled = relative(repositoryFolder, path).replace(/\.ts$/, ".js");
    const url = `(import.meta.url.slice(0, import.meta.url.lastIndexOf("/build/")) + ${JSON.stringify(`/build/${bundled}`)})`;
    return { loader: "ts", contents: source.replaceAll("import.meta.url", url) };
  });
  build.onResolve({ filter: /^\.\/generated\/currency\.ts$/ }, () => ({
    path: join(repositoryFolder, "contracts", "currency.ts"),
  }));
}

const chunkLifetimeMs = 24 * 60 * 60 * 1000;

function removeOldChunks(outputs: string[]): void {
  const current = new Set(outputs.map((path) => basename(path)));
  for (const name of readdirSync(join(bundleFolder, "chunks"))) {
    const file = join(bundleFolder, "chunks", name);
    if (!current.has(name) && statSync(file).mtimeMs < Date.now() - chunkLifetimeMs) rmSync(file);
  }
}

/** Copies what the product reads while it runs. Returns the paths of files and of folders, for their times. */
function copyReadFiles(): string[] {
  const services = readdirSync(join(repositoryFolder, "services"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `services/${name}`);
  const packages = [...services, "services", "gateway", "contracts", "simulator"];
  const files = [
    ...packages.map((folder) => `${folder}/package.json`),
    ...services.map((folder) => `${folder}/migrations`),
    ...["asyncapi", "openapi", "openapi.full"].map((name) => `contracts/${name}.json`),
    "docs-portal/docs",
  ].filter((path) => existsSync(join(repositoryFolder, path)));
  for (const name of copiedPackages) {
    const copy = join(bundleFolder, "node_modules", name);
    cpSync(join(repositoryFolder, "node_modules", name), copy, { recursive: true, dereference: true });
  }
  for (const path of files) {
    mkdirSync(dirname(join(bundleFolder, path)), { recursive: true });
    cpSync(join(repositoryFolder, path), join(bundleFolder, path), { recursive: true });
  }
  const isFolder = (path: string) => statSync(join(repositoryFolder, path)).isDirectory();
  const contained = files
    .filter(isFolder)
    .flatMap((folder) => readdirSync(join(repositoryFolder, folder)).map((name) => `${folder}/${name}`));
  return [...files, ...contained];
}

if (argv[1] === fileURLToPath(import.meta.url)) await bundleProduct();

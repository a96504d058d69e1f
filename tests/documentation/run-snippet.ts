import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";

/** The folder of the programs that the guides show. */
export const snippetsFolder = join(
  findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "docs-portal",
  "snippets",
);

export interface SnippetLanguage {
  label: string;
  /** The extension of the program's file. */
  extension: string;
  command: string;
  args: string[];
}

const snippetLanguages: SnippetLanguage[] = [
  {
    label: "TypeScript",
    extension: "mts",
    command: process.execPath,
    args: ["--conditions=source", "--import", import.meta.resolve("tsx")],
  },
  { label: "Python", extension: "py", command: "python3", args: [] },
  { label: "PHP", extension: "php", command: "php", args: ["-d", "display_errors=stderr"] },
];

const isInstalled = (command: string) => spawnSync(command, ["--version"]).status === 0;

/** The languages of the programs whose commands are installed on this machine. */
export const installedSnippetLanguages = snippetLanguages.filter(({ command }) => isInstalled(command));

/** The same languages, and Bash if the commands of the programs in Bash are installed too. */
export const snippetRuntimes: SnippetLanguage[] = [
  ...installedSnippetLanguages,
  ...(["bash", "curl", "jq"].every(isInstalled) ? [{ label: "Bash", extension: "sh", command: "bash", args: [] }] : []),
];

interface SnippetOptions {
  /** The program without its extension, such as `month-of-orders/orders`. */
  program: string;
  url: string;
  key: string;
  args: string[];
  /** The folder in which the program writes its files. It comes from `withTemporaryFolder`. */
  folder: string;
}

export interface RunningSnippet {
  output(): string;
  errorOutput(): string;
  /** Resolves with the exit code when the program has ended. */
  exitCode: Promise<number | null>;
  kill(): Promise<void>;
}

/** The programs that were started in each folder of `withTemporaryFolder`. */
const startedSnippetsByFolder = new Map<string, RunningSnippet[]>();

/** Starts a program of a guide, as a reader would. The program ends, at the latest, when its folder is removed. */
export function startSnippet(
  { extension, command, args: commandArgs }: SnippetLanguage,
  { program, url, key, args, folder }: SnippetOptions,
): RunningSnippet {
  const file = join(snippetsFolder, `${program}.${extension}`);
  // All other variables are omitted, because they could configure a proxy for the requests.
  const env = { PATH: process.env.PATH, LANG: "C.UTF-8", PRAGMA_URL: url, PRAGMA_API_KEY: key };
  const child = spawn(command, [...commandArgs, file, ...args], { cwd: folder, env });
  let output = "";
  let errorOutput = "";
  child.stdout.setEncoding("utf8").on("data", (part) => {
    output += part;
  });
  child.stderr.setEncoding("utf8").on("data", (part) => {
    errorOutput += part;
  });
  const exitCode = once(child, "close").then(([code]) => code as number | null);
  const snippet: RunningSnippet = {
    output: () => output,
    errorOutput: () => errorOutput,
    exitCode,
    async kill() {
      child.kill("SIGKILL");
      await exitCode;
    },
  };
  const ofFolder = startedSnippetsByFolder.get(folder);
  if (!ofFolder) throw new Error("The folder is not one of withTemporaryFolder.");
  ofFolder.push(snippet);
  return snippet;
}

/** Runs a program of a guide, and returns its output. @throws Error if it fails. */
export async function runSnippet(language: SnippetLanguage, options: SnippetOptions): Promise<string> {
  const snippet = startSnippet(language, options);
  const code = await snippet.exitCode;
  if (code !== 0) throw new Error(`${options.program} in ${language.label} failed:\n${snippet.errorOutput()}`);
  return snippet.output();
}

/** Calls a function with a new folder. Afterwards, kills the programs that run in the folder, and removes it. */
export async function withTemporaryFolder<Result>(run: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "pragma-snippet-"));
  const started: RunningSnippet[] = [];
  startedSnippetsByFolder.set(folder, started);
  try {
    return await run(folder);
  } finally {
    startedSnippetsByFolder.delete(folder);
    // A program that still runs could write a file while the folder is removed.
    await Promise.all(started.map((snippet) => snippet.kill()));
    rmSync(folder, { recursive: true, force: true });
  }
}

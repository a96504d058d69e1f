import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";

const repositoryFolder = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")), "..");
const tryItFolder = join(repositoryFolder, "docs-portal", "src", "try-it");

/** The values that a reader enters in the form of an operation. */
interface SampleInputs {
  server: string;
  key: string;
  parameters: Record<string, string>;
  body?: string;
  /** The names of the response headers that the sample prints. */
  printedHeaders?: string[];
}

interface SampleOperation {
  operationId: string;
  method: string;
  path: string;
}

/** The functions of the documentation site that generate code samples. */
interface SampleGenerator {
  composeTryItRequest(operation: SampleOperation, inputs: SampleInputs): unknown;
  responseKindOfOperation(operation: SampleOperation): unknown;
  codeSampleLanguages: {
    id: string;
    label: string;
    write(sample: { request: unknown; responseKind: unknown; printedHeaders?: string[] }): string;
  }[];
  codeSampleResponseFileName: string;
}

const sampleGenerator: SampleGenerator = Object.assign(
  {},
  ...(await Promise.all(
    ["compose-request.ts", "operation.ts", "samples/samples.ts", "samples/sample.ts"].map(
      (file) => import(pathToFileURL(join(tryItFolder, file)).href),
    ),
  )),
);

/** The file name of a sample and the command that runs the sample, by language. */
const programsByLanguage: Record<string, { file: string; command: string; args: string[] }> = {
  curl: { file: "sample.sh", command: "sh", args: [] },
  typescript: { file: "sample.mts", command: process.execPath, args: ["--import", import.meta.resolve("tsx")] },
  python: { file: "sample.py", command: "python3", args: [] },
  php: { file: "sample.php", command: "php", args: ["-d", "display_errors=stderr"] },
};

/** Maximum duration of a sample in milliseconds. A sample that runs longer is killed. */
const sampleTimeoutMs = 20_000;

const isInstalled = (command: string) => spawnSync(command, ["--version"]).status === 0;

export type CodeSampleLanguageDefinition = SampleGenerator["codeSampleLanguages"][number];

/** The sample languages whose commands are installed on this machine. */
export const installedSampleLanguages: CodeSampleLanguageDefinition[] = sampleGenerator.codeSampleLanguages.filter(
  ({ id }) => isInstalled(id === "curl" ? "curl" : (programsByLanguage[id]?.command ?? id)),
);

const openApiDocument = JSON.parse(readFileSync(join(repositoryFolder, "contracts", "openapi.json"), "utf8"));
const sampleOperations: SampleOperation[] = Object.entries<Record<string, object>>(openApiDocument.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation }) as SampleOperation),
);

export interface RunnableCodeSample {
  /** Runs the sample. Rejects with its output if it fails. `saved` is the content of the file that it writes. */
  run(): Promise<{ output: string; saved: Buffer | undefined }>;
  /** Runs the sample until its output contains this text, and then kills the sample, because it would not end. */
  runUntil(text: string): Promise<void>;
}

/** Returns the code sample that the reference shows for an operation after a reader has entered these values. */
export function createRunnableCodeSample(
  language: CodeSampleLanguageDefinition,
  operationId: string,
  inputs: SampleInputs,
): RunnableCodeSample {
  const operation = sampleOperations.find((each) => each.operationId === operationId);
  const program = programsByLanguage[language.id];
  if (!operation || !program)
    throw new Error(`The operation ${operationId} or a command for ${language.label} is missing.`);
  const request = sampleGenerator.composeTryItRequest(operation, inputs);
  const { printedHeaders = [] } = inputs;
  const responseKind = sampleGenerator.responseKindOfOperation(operation);
  const text = language.write({ request, responseKind, printedHeaders });

  async function runProgram(
    isComplete: (output: string) => boolean,
  ): Promise<{ output: string; saved: Buffer | undefined }> {
    const folder = mkdtempSync(join(tmpdir(), "pragma-sample-"));
    try {
      const { file, command, args } = program as NonNullable<typeof program>;
      writeFileSync(join(folder, file), text);
      if (inputs.body !== undefined) writeFileSync(join(folder, "body.json"), inputs.body);
      // All variables except PATH are omitted, because they could configure a proxy for the requests. The sample has
      // its own process group, so that killing the group also ends the child processes of a shell.
      const env = { PATH: process.env.PATH };
      const child = spawn(command, [...args, file], { cwd: folder, env, detached: true });
      const killSample = () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
      const deadline = setTimeout(killSample, sampleTimeoutMs);
      let output = "";
      let errorOutput = "";
      child.stderr.on("data", (part) => {
        errorOutput += part;
      });
      child.stdout.on("data", (part) => {
        output += part;
        if (isComplete(output)) killSample();
      });
      const [code] = await once(child, "close");
      clearTimeout(deadline);
      if (code !== 0 && !isComplete(output)) throw new Error(`The sample failed:\n${text}\n\n${output}${errorOutput}`);
      const downloadPath = join(folder, sampleGenerator.codeSampleResponseFileName);
      return { output, saved: existsSync(downloadPath) ? readFileSync(downloadPath) : undefined };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  return {
    run: () => runProgram(() => false),
    runUntil: async (expectedText) => {
      const { output } = await runProgram((soFar) => soFar.includes(expectedText));
      if (!output.includes(expectedText)) throw new Error(`The sample ended without ${expectedText}:\n${output}`);
    },
  };
}

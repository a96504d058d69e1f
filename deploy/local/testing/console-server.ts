import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { LocalCommandUserError } from "../terminal.mjs";

export interface StartedConsoleServer {
  url: string;
  stop(): void;
}

/** Serves the console that `npm test` or `node console/build.mjs` built, for the API at this URL. */
export async function startConsoleServer(
  consoleFolder: string,
  apiUrl: string,
  { hasSandboxes = false }: { hasSandboxes?: boolean } = {},
): Promise<StartedConsoleServer> {
  if (!existsSync(join(consoleFolder, "build", "index.html")))
    throw new LocalCommandUserError("Build the console first: node console/build.mjs");
  const server = spawn(process.execPath, [join(consoleFolder, "serve.mjs"), "0"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...{ ...process.env, PUBLIC_URL: apiUrl, DOCS_URL: "http://localhost:3000/docs" },
      SANDBOXES: hasSandboxes ? "on" : "off",
    },
  });
  const [output] = await once(server.stdout, "data");
  return { url: /http:\S+/.exec(String(output))?.[0] ?? "", stop: () => void server.kill() };
}

/** A script that signs a tab of the console in. It stores the key only once, so that the tab can sign out. */
export const createSignInScript = (apiKey: string) => `if (!sessionStorage.getItem("isOldTab")) {
  sessionStorage.setItem("isOldTab", "true");
  sessionStorage.setItem("pragma.console.apiKey", ${JSON.stringify(apiKey)});
}`;

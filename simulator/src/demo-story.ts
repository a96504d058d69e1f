import type { DemoAccess } from "./demo-file.ts";

/** What to tell about the demo location: its id, its key, and three commands that work when pasted into a shell. */
export function demoStory(url: string, { locationId, apiKey }: DemoAccess, newestReportId: string): string {
  const authorization = `-H 'authorization: Bearer ${apiKey}'`;
  return [
    `Demo location  ${locationId}`,
    `API key        ${apiKey}`,
    "",
    `curl ${authorization} '${url}/v2/reports/'`,
    `curl ${authorization} '${url}/v2/reports/${newestReportId}'`,
    `curl '${url}/health/'`,
  ].join("\n");
}

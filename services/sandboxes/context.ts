import { type AdminApiClient, createApiClient, type PublicApiClient } from "@pragma/client/api-client";
import { abortableDelay } from "@pragma/client/retrying-fetch";
import { ApiError } from "@pragma/contracts/errors";
import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { Encryption } from "@pragma/runtime/security/encryption";
import type { SandboxesConfig } from "./config.ts";
import type { SandboxRow } from "./queries/sandboxes.ts";

/** What the service needs while sandboxes are switched on. */
export interface SandboxServices {
  db: Database;
  config: SandboxesConfig;
  encryption: Encryption;
  log: Logger;
  /** The URL of the API, and the operator's key. */
  operatorAccess: { baseUrl: string; apiKey: string };
  /** A client of the whole API, with the operator's key. */
  operatorApi: AdminApiClient;
  /** The URL of the inboxes, to which the token of an inbox is appended. */
  inboxUrl: string;
  /** Removes a location with all its data, or continues its removal. Null if an operators' command does this. */
  removeLocation: ((locationId: string) => Promise<void>) | null;
  /** Creates the consumers of the keys, unless they exist. */
  ensureConsumers(): Promise<void>;
  /** Ends the waits between retries of requests to the API when the service stops. */
  signal: AbortSignal;
  /** Looks for due work at once. */
  poll(): void;
}

export interface SandboxesContext {
  db: Database;
  /** Null while sandboxes are switched off. */
  sandboxes: SandboxServices | null;
}

export const defineSandboxesRoute = createRouteDefiner<SandboxesContext>();

/** @throws `ApiError` sandboxes_off. */
export function requireSandboxesOn({ sandboxes }: SandboxesContext): SandboxServices {
  if (sandboxes) return sandboxes;
  throw new ApiError("sandboxes_off", {
    detail: "The operator has not switched on sandboxes. Ask the operator for an API key instead.",
  });
}

/** Returns a function that waits between two attempts of a request, and rejects when the signal is aborted. */
export const waitUnlessStopped = (signal: AbortSignal) => (milliseconds: number) =>
  abortableDelay(milliseconds, signal);

/** Returns a client of the API that acts in a sandbox, with the service's own key. */
export function createSandboxClient(
  { operatorAccess: { baseUrl }, encryption, signal }: SandboxServices,
  { encryptedKey }: Pick<SandboxRow, "encryptedKey">,
  retries?: number,
): PublicApiClient {
  if (encryptedKey === null) throw new Error("The sandbox has no API key.");
  const options = { baseUrl, apiKey: encryption.decrypt(encryptedKey), wait: waitUnlessStopped(signal) };
  return createApiClient({ ...options, ...(retries !== undefined && { retries }) });
}

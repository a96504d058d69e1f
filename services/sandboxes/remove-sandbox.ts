import { nullOnProblem } from "@pragma/client/api-problem";
import type { EnvironmentVariables } from "@pragma/runtime/config/environment-variables";
import type { SandboxServices } from "./context.ts";
import { createSandboxLocation } from "./create-sandbox.ts";
import { type SandboxRow, updateLeasedSandbox } from "./queries/sandboxes.ts";

/** The operators' command that removes a location, which needs the databases of all services. */
export interface LocationRemoval {
  /** @throws `ConfigError` if the command could not run with these variables. */
  checkConfiguration(environment: EnvironmentVariables): Promise<void>;
  removeLocation(
    locationId: string,
    context: { environment: EnvironmentVariables; log: (line: string) => void },
  ): Promise<void>;
}

/**
 * Removes the location of a sandbox with all its data. Refuses to remove a location that is not marked as a sandbox.
 * Continues an interrupted removal, and finds the location of an interrupted creation. Returns whether it is removed: if an
 * operators' command removes sandboxes, only revokes the API keys.
 */
export async function removeSandbox(services: SandboxServices, sandbox: SandboxRow): Promise<boolean> {
  const { db, operatorApi, removeLocation } = services;
  const { id, state } = sandbox;
  const locationId = sandbox.locationId ?? (await createSandboxLocation({ operatorApi }, id)).id;
  if (state !== "removing") {
    const params = { path: { id: locationId } };
    const found = await nullOnProblem(operatorApi.GET("/v1/locations/{id}", { params }), "location_not_found");
    if (found && !found.data.isSandbox) throw new Error(`The location ${locationId} is not a sandbox.`);
    if (found && !removeLocation) await revokeKeys(services, locationId);
    await updateLeasedSandbox(db, id, { locationId, state: found ? "removing" : "removed" });
    if (!found) return true;
  }
  if (!removeLocation) return false;
  await removeLocation(locationId);
  await updateLeasedSandbox(db, id, { state: "removed", encryptedKey: null });
  return true;
}

async function revokeKeys({ operatorApi }: SandboxServices, locationId: string): Promise<void> {
  for await (const { id, revokedAt } of operatorApi.items("/v1/auth/keys", { params: { query: { locationId } } }))
    if (revokedAt === null) await operatorApi.DELETE("/v1/auth/keys/{id}", { params: { path: { id } } });
}

import { readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { defineSandboxesService } from "@pragma/sandboxes/service";
import { z } from "zod";

const removalConfigSchema = z.object({
  /** A user of NATS that may delete events, as the command `migrate` has it. By default, that of the process. */
  SANDBOX_REMOVAL_NATS_URL: z.string().optional(),
});

type Environment = Parameters<typeof readConfigFromEnvironment>[1];

function getRemovalEnvironment(environment: Environment): Environment {
  const { SANDBOX_REMOVAL_NATS_URL: url } = readConfigFromEnvironment(removalConfigSchema, environment);
  return { ...environment, ...(url !== undefined && { NATS_URL: url }) };
}

/** The service sandboxes, whose locations are removed as by operators with `npm run ops -- location remove`. */
export default defineSandboxesService({
  async checkConfiguration(environment) {
    const { readRemovalConfig } = await import("./remove-location.ts");
    readRemovalConfig(getRemovalEnvironment(environment));
  },
  async removeLocation(locationId, { environment, log }) {
    const { removeLocation } = await import("./remove-location.ts");
    await removeLocation(locationId, locationId, { environment: getRemovalEnvironment(environment), log });
  },
});

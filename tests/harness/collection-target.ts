import { apiScopeNames } from "@pragma/contracts/scopes";
import { createMigratedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startTestWebhookReceiver } from "@pragma/webhooks/testing/webhook-receiver";
import { buildFakeLegacyBackofficeVariables, startFakeLegacyBackoffice } from "./fake-legacy-backoffice.ts";
import { startPragmaUnderTest } from "./pragma-under-test.ts";
import { createTestLocation } from "./test-location.ts";

/**
 * Starts a product with a location without data, an endpoint for webhooks and a legacy backoffice, and returns the values
 * that a user of the collections sets for their variables.
 */
export async function startCollectionTarget() {
  const backoffice = await startFakeLegacyBackoffice({ maxPageSize: 20 });
  const environment = await createMigratedTestEnvironment(buildFakeLegacyBackofficeVariables(backoffice));
  const product = await startPragmaUnderTest(environment.variables);
  const receiver = await startTestWebhookReceiver();
  const { key, legacyId } = await createTestLocation(product, { scopes: [...apiScopeNames] });
  const variables = { baseUrl: product.url, apiKey: key, legacyId, endpointUrl: receiver.addEndpoint().url };
  return {
    variableArguments: Object.entries(variables).flatMap(([name, value]) => ["--env-var", `${name}=${value}`]),
    async stop() {
      await product.stop();
      await Promise.all([receiver.close(), backoffice.stop()]);
      await environment.remove();
    },
  };
}

/** The request for the stream of live orders does not end by itself, so that a run would wait for it. */
export const isEndlessRequest = ({ name }: { name: string }): boolean => name === "Stream live orders";

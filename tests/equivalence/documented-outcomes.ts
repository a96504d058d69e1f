import { describe, expect, it } from "vitest";
import { apiOperations, type DocumentedApiOperation, type DocumentedOutcome } from "../contract/api-operations.ts";
import { errorRequestBuilders } from "../contract/common-error-requests.ts";
import type { ContractTestRequest } from "../contract/operation-contract.ts";
import { contractTestCasesByOperation } from "../contract/operation-contracts.ts";
import type { DeploymentMode } from "../harness/both-modes.ts";
import { describeResponseShape } from "../harness/compare-responses.ts";
import { buildRequestCausing, contractFixtures, pragmaInBothModes, toRawHttpRequest } from "./equivalence-fixture.ts";

/** Returns the outcomes of an operation that a test can cause with a single request while all services run. */
function listTestableOutcomes({ id, outcomes }: DocumentedApiOperation): DocumentedOutcome[] {
  const { requestsByOutcome = {}, untestableOutcomes = {} } = contractTestCasesByOperation[id] ?? {};
  return [...outcomes.keys()].filter(
    (outcome) =>
      outcome !== "service_unavailable" &&
      (outcome in requestsByOutcome || outcome in errorRequestBuilders) &&
      !(outcome in untestableOutcomes),
  );
}

async function buildRequest(
  operation: DocumentedApiOperation,
  mode: DeploymentMode,
  outcome: DocumentedOutcome,
): Promise<ContractTestRequest> {
  const operationRequest = await buildRequestCausing(operation, mode, outcome);
  if (contractTestCasesByOperation[operation.id]?.requestsByOutcome[outcome]) return operationRequest;
  return (
    (await errorRequestBuilders[outcome as keyof typeof errorRequestBuilders]?.(
      operationRequest,
      operation,
      contractFixtures[mode],
    )) ?? operationRequest
  );
}

/**
 * Defines a test of each outcome that a single request can cause. Responses to reads must be equal. For writes, each
 * mode sends its own data, so the responses must be equal only in their status, headers and field types.
 */
export function defineOutcomeTests(): void {
  describe.each(apiOperations)("$id has equal responses", (operation) => {
    it.each(listTestableOutcomes(operation))("%s", async (outcome) => {
      const status = operation.outcomes.get(outcome)?.status;
      if (operation.method === "GET") {
        const operationRequest = await buildRequest(operation, "singleProcess", outcome);
        // Each process counts its own waiting requests. The fixtures of both modes use the same admin key for them.
        if (outcome === "too_many_waiting_requests") await buildRequest(operation, "split", outcome);
        const response = await pragmaInBothModes.expectSameResponse(toRawHttpRequest(operation, operationRequest));
        expect(response.status).toBe(status);
        return;
      }
      const [singleProcess, split] = [
        await buildRequest(operation, "singleProcess", outcome),
        await buildRequest(operation, "split", outcome),
      ];
      const requests = { singleProcess, split };
      const responses = await pragmaInBothModes.expectEquivalentResponses(
        (mode) => toRawHttpRequest(operation, requests[mode]),
        describeResponseShape,
      );
      expect(responses.singleProcess.status).toBe(status);
    });
  });
}

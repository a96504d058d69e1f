import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { normalizeResponse, omitConnectionHeaders } from "./compare-responses.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./pragma-under-test.ts";
import { type RawHttpRequest, type RawHttpResponse, sendRequestWithExactHeaders } from "./raw-http-client.ts";

/** `singleProcess` runs an installation in one process. `split` runs each service and the gateway separately. */
export type DeploymentMode = "singleProcess" | "split";
export const deploymentModes = ["singleProcess", "split"] as const;

/** One installation that runs in both deployment modes at once, on the same PostgreSQL, NATS and Redis servers. */
export interface PragmaInBothModes extends Record<DeploymentMode, PragmaUnderTest> {
  /**
   * Sends the same request in both modes, and checks that the responses are equal. Values that differ between any two
   * responses, such as dates and request ids, are removed or replaced first. Returns the resulting response.
   */
  expectSameResponse(request: RawHttpRequest): Promise<RawHttpResponse>;
  /** Sends a request in each mode, checks that `summarize` returns the same for both responses, and returns both. */
  expectEquivalentResponses(
    requestOf: (mode: DeploymentMode) => RawHttpRequest,
    summarize: (response: RawHttpResponse, mode: DeploymentMode) => unknown,
  ): Promise<ResponsesByMode>;
  stop(): Promise<void>;
}

type ResponsesByMode = Record<DeploymentMode, RawHttpResponse>;

export async function startPragmaInBothModes(variables: Record<string, string>): Promise<PragmaInBothModes> {
  const singleProcess = await startPragmaUnderTest(variables);
  const split = await startPragmaUnderTest(variables, { split: true, adminKey: singleProcess.adminKey });
  const products = { singleProcess, split };

  async function requestFromBoth(requestOf: (mode: DeploymentMode) => RawHttpRequest): Promise<ResponsesByMode> {
    const requestId = randomUUID();
    const [one, other] = await Promise.all(
      deploymentModes.map(async (mode) => {
        const { headers, ...request } = requestOf(mode);
        const common = { host: "api.example", "x-request-id": requestId };
        const response = await sendRequestWithExactHeaders(products[mode].url, {
          ...request,
          headers: { ...common, ...headers },
        });
        return normalizeResponse(request.body === undefined ? response : omitConnectionHeaders(response));
      }),
    );
    return { singleProcess: one as RawHttpResponse, split: other as RawHttpResponse };
  }

  return {
    ...products,
    async expectSameResponse(request) {
      const responses = await requestFromBoth(() => request);
      expect(responses.split, `${request.method} ${request.path}`).toEqual(responses.singleProcess);
      return responses.singleProcess;
    },
    async expectEquivalentResponses(requestOf, summarize) {
      const responses = await requestFromBoth(requestOf);
      const { method, path } = requestOf("split");
      expect(summarize(responses.split, "split"), `${method} ${path}`).toEqual(
        summarize(responses.singleProcess, "singleProcess"),
      );
      return responses;
    },
    async stop() {
      await split.stop();
      await singleProcess.stop();
    },
  };
}

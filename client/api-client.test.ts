import { describe, expect, it } from "vitest";
import { createAdminApiClient, createApiClient } from "./api-client.ts";
import { ApiProblem, NoResponse, nullOnProblem, UnexpectedResponseError } from "./api-problem.ts";

/** Returns clients that record their requests instead of sending them. `respond` returns the response to a request. */
function createFakeClient(respond: (request: Request) => Response) {
  const requests: Request[] = [];
  const options = {
    baseUrl: "http://localhost:4000/",
    apiKey: "pragma_key",
    fetch: async (request: Request) => {
      requests.push(request);
      return respond(request);
    },
    wait: async () => {},
  };
  return { client: createApiClient(options), admin: createAdminApiClient(options), requests };
}

const problem = {
  type: "https://docs.pragma.example/docs/errors#invalid_request",
  title: "The request is invalid",
  status: 400,
  detail: "1 issue: see errors.",
  code: "invalid_request",
  requestId: "0190a5f2-7c1e-7cc0-8e2b-5f3f5a3f9c11",
  errors: [{ in: "query", path: "size", code: "too_big", message: "must be at most 100" }],
} as const;

describe("a call", () => {
  it("sends the key and returns the data and the response", async () => {
    const { client, requests } = createFakeClient(() => Response.json({ status: "ok" }, { headers: { etag: '"1"' } }));
    const { data, response } = await client.GET("/health");
    expect(data).toEqual({ status: "ok" });
    expect(response.headers.get("etag")).toBe('"1"');
    expect(requests[0]?.url).toBe("http://localhost:4000/health");
    expect(requests[0]?.headers.get("authorization")).toBe("Bearer pragma_key");
  });

  it("throws a problem with its code, issues and request id", async () => {
    const { client } = createFakeClient(() => Response.json(problem, { status: 400 }));
    const error = await client.GET("/v2/reports", { params: { query: { size: 1000 } } }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ApiProblem);
    expect(error).toMatchObject({
      call: "GET /v2/reports?size=1000",
      status: 400,
      code: "invalid_request",
      type: problem.type,
      issues: problem.errors,
      limit: undefined,
      requestId: problem.requestId,
    });
    expect(error.message).toBe(
      "GET /v2/reports?size=1000 responded 400: The request is invalid. 1 issue: see errors. " +
        `query size: must be at most 100 (request ${problem.requestId})`,
    );
  });

  it("throws a problem with the limit that the call exceeds", async () => {
    const limit = { name: "webhooks", maximum: 100, unit: "webhooks" };
    const exceeded = { ...problem, code: "limit_reached", status: 409, errors: undefined, limit };
    const { client } = createFakeClient(() => Response.json(exceeded, { status: 409 }));
    await expect(client.GET("/health")).rejects.toMatchObject({ code: "limit_reached", issues: [], limit });
  });

  it("throws UnexpectedResponseError when the response is not from the API", async () => {
    const { client } = createFakeClient(() => new Response("<h1>Not here</h1>", { status: 404 }));
    const error = await client.GET("/health").catch((thrown) => thrown);
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toContain("GET /health responded 404");
  });

  it("throws NoResponse with the cause when every attempt fails", async () => {
    const { client, requests } = createFakeClient(() => {
      throw new TypeError("fetch failed");
    });
    const error = await client.GET("/health").catch((thrown) => thrown);
    expect(error).toBeInstanceOf(NoResponse);
    expect(error.cause).toMatchObject({ message: "fetch failed" });
    expect(requests).toHaveLength(6);
  });

  it("throws the abort reason of the caller", async () => {
    const aborter = new AbortController();
    const { client, requests } = createFakeClient(({ signal }) => {
      aborter.abort(new Error("enough"));
      throw signal.reason;
    });
    await expect(client.GET("/health", { signal: aborter.signal })).rejects.toThrow("enough");
    expect(requests).toHaveLength(1);
  });
});

describe("nullOnProblem", () => {
  const failingCall = () => createFakeClient(() => Response.json(problem, { status: 400 })).client.GET("/v2/reports");

  it("returns null for the given problem codes and throws other problems", async () => {
    expect(await nullOnProblem(failingCall(), "invalid_page_token", "invalid_request")).toBeNull();
    await expect(nullOnProblem(failingCall(), "report_not_found")).rejects.toBeInstanceOf(ApiProblem);
  });
});

describe("Idempotency-Key", () => {
  const keysOf = (requests: Request[]) => requests.map(({ headers }) => headers.get("idempotency-key"));
  const create = { body: { name: "Acme" } };

  it("is new for each POST and the same for its retries", async () => {
    const statuses = [503, 201, 201];
    const { admin, requests } = createFakeClient(() => Response.json({}, { status: statuses.shift() ?? 500 }));
    await admin.POST("/v1/consumers", create);
    await admin.POST("/v1/consumers", create);
    const [first, retry, second] = keysOf(requests);
    expect(first).toMatch(/^[\da-f-]{36}$/);
    expect(retry).toBe(first);
    expect(second).not.toBe(first);
  });

  it("can be set by the caller, and is not sent with other methods", async () => {
    const { admin, requests } = createFakeClient(() => Response.json({}));
    await admin.POST("/v1/consumers", { ...create, params: { header: { "Idempotency-Key": "mine" } } });
    await admin.GET("/v1/consumers");
    expect(keysOf(requests)).toEqual(["mine", null]);
  });
});

describe("a list", () => {
  const tokens = ["", "second", "third"];
  const respondWithPage = (request: Request) => {
    const index = tokens.indexOf(new URL(request.url).searchParams.get("pageToken") ?? "");
    const data = [{ id: `${index}a` }, { id: `${index}b` }];
    return Response.json({ data, nextPageToken: tokens[index + 1] ?? null });
  };

  it("is read by page tokens, with the same filters", async () => {
    const { client, requests } = createFakeClient(respondWithPage);
    const ids: string[] = [];
    for await (const { id } of client.items("/v2/reports", { params: { query: { since: "2026-05-29" } } }))
      ids.push(id);
    expect(ids).toEqual(["0a", "0b", "1a", "1b", "2a", "2b"]);
    expect(requests.map(({ url }) => new URL(url).search)).toEqual([
      "?size=100&since=2026-05-29",
      "?size=100&since=2026-05-29&pageToken=second",
      "?size=100&since=2026-05-29&pageToken=third",
    ]);
  });

  it("requests only the pages that are read", async () => {
    const { client, requests } = createFakeClient(respondWithPage);
    for await (const { data } of client.pages("/v1/orders", { params: { query: { size: 2 } } }))
      if (data.some(({ id }) => id === "1a")) break;
    expect(requests).toHaveLength(2);
    expect(new URL(requests[0]?.url ?? "").search).toBe("?size=2");
  });
});

it("checks the types of each operation's input and output", () => {
  const { client, admin } = createFakeClient(() => Response.json({}));
  const invalidCalls = [
    // @ts-expect-error: the path is only for operators
    () => client.GET("/v1/consumers"),
    // @ts-expect-error: the id is missing
    () => client.GET("/v2/reports/{id}"),
    // @ts-expect-error: the parameter does not exist
    () => client.GET("/v2/reports", { params: { query: { sice: 10 } } }),
    // @ts-expect-error: the name is missing
    () => admin.POST("/v1/consumers", { body: {} }),
    // @ts-expect-error: the path is not a list
    () => admin.items("/v1/locations/own"),
    // @ts-expect-error: the field does not exist
    async () => (await client.GET("/v2/reports/{id}", { params: { path: { id: "" } } })).data.totalSale,
  ];
  expect(invalidCalls).toHaveLength(6);
});

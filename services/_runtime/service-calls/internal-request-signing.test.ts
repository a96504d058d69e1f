import { randomUUID } from "node:crypto";
import { request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import type { ApiError } from "@pragma/contracts/errors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RequestBodyMemoryReservation } from "../admission/request-body-memory.ts";
import { type HttpServer, startHttpServer } from "../http/http-server.ts";
import { readRequestBody } from "../http/read-body.ts";
import type { RequestClient, RequestPrincipalAndMetadata } from "../http/request-identity.ts";
import { buildTestPrincipal } from "../testing/test-service.ts";
import { createInternalRequestSigner, createInternalRequestVerifier } from "./internal-request-signing.ts";

const createSecret = (name: string) => `k:${name.repeat(40).slice(0, 40)}`;
const keys = {
  GATEWAY_TO_ACCOUNTS_KEYS: createSecret("ga"),
  TILL_INGEST_TO_ACCOUNTS_KEYS: createSecret("ta"),
  ORDER_LIVE_TO_ACCOUNTS_KEYS: createSecret("oa"),
  REPORTING_TO_ACCOUNTS_KEYS: createSecret("ra"),
  CATALOG_TO_ACCOUNTS_KEYS: createSecret("ca"),
  WEBHOOKS_TO_ACCOUNTS_KEYS: createSecret("wa"),
  JOBS_TO_ACCOUNTS_KEYS: createSecret("ja"),
  SANDBOXES_TO_ACCOUNTS_KEYS: createSecret("sa"),
};
const principal = buildTestPrincipal({ scopes: ["reports:read"] });
const request = { method: "GET", target: "/v1/locations/own?devices=true", origin: "https://api.example" };
const traceparent = undefined;

let accounts: HttpServer;
beforeAll(async () => {
  const verify = createInternalRequestVerifier(keys, "accounts");
  accounts = await startHttpServer(
    async (_, { incoming }) => {
      const memoryReservation = new RequestBodyMemoryReservation("test");
      try {
        const identity = verify(incoming);
        const body = await readRequestBody(incoming, { ...identity, memoryReservation });
        return Response.json({ ...identity, ...(body.byteLength > 0 && { body: Buffer.from(body).toString() }) });
      } catch (error) {
        return Response.json({ code: (error as ApiError).code }, { status: (error as ApiError).status });
      } finally {
        memoryReservation.release();
      }
    },
    { port: 0 },
  );
});
afterAll(() => accounts.stop());

type Headers = Record<string, string | string[]>;

function sendRequest({
  method = request.method,
  path = request.target,
  headers,
  body,
}: {
  method?: string;
  path?: string;
  headers: Headers;
  body?: Buffer | undefined;
}) {
  return new Promise<RequestPrincipalAndMetadata & { code?: string; body?: string }>((resolve, reject) => {
    httpRequest({ port: accounts.port, method, path, headers }, async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      resolve(JSON.parse(text));
    })
      .on("error", reject)
      .end(body);
  });
}

const gatewayHeaders = (requestId = randomUUID()) =>
  createInternalRequestSigner(keys, "gateway", "accounts").sign({ ...request, requestId, traceparent, principal });

const clientOf = (headers: Record<string, string>) => headers["x-pragma-client"] ?? "";
/** Returns the next letter of base64url. After the last letter of a signature, it stands for the same bytes. */
const nextLetter = (letter: string) => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return letters.charAt(letters.indexOf(letter) + 1);
};

describe("a signed request", () => {
  it("contains the principal, the request id and the client's origin", async () => {
    const requestId = randomUUID();
    expect(await sendRequest({ headers: gatewayHeaders(requestId) })).toEqual({
      principal,
      requestId,
      origin: "https://api.example",
    });
  });

  it.each<[string, { method?: string; path?: string; headers?: Headers }]>([
    ["another method", { method: "DELETE" }],
    ["another path", { path: "/v1/auth/keys/" }],
    ["another query", { path: "/v1/locations/own?devices=false" }],
    ["another request id", { headers: { "x-request-id": randomUUID() } }],
    ["another host", { headers: { "x-forwarded-host": "evil.example" } }],
    [
      "another principal",
      {
        headers: {
          "x-pragma-principal": Buffer.from(JSON.stringify(buildTestPrincipal({ scopes: ["admin"] }))).toString(
            "base64url",
          ),
        },
      },
    ],
    ["no principal", { headers: { "x-pragma-principal": "" } }],
    ["no signature", { headers: { "x-pragma-signature": "" } }],
  ])("is rejected with %s", async (_, { headers = {}, ...change }) => {
    const identity = await sendRequest({ ...change, headers: { ...gatewayHeaders(), ...headers } });
    expect(identity.code).toBe("key_missing");
  });

  const changeTarget = { method: "POST", target: "/v1/consumers/", origin: request.origin };
  const client = { address: "203.0.113.7", userAgent: "acme/1.0 (é)" };
  const otherClient = { address: "203.0.113.8", userAgent: client.userAgent };
  const signChange = (signedClient: RequestClient = client): Record<string, string> => ({
    ...createInternalRequestSigner(keys, "gateway", "accounts").sign({
      ...changeTarget,
      requestId: randomUUID(),
      traceparent,
      principal,
      client: signedClient,
    }),
    ...(signedClient.userAgent !== null && { "user-agent": signedClient.userAgent }),
  });
  const sendChange = (headers: Headers) => sendRequest({ method: "POST", path: changeTarget.target, headers });

  it.each([client, { address: "2001:db8::1", userAgent: null }])("of a change contains the client %j", async (each) => {
    expect((await sendChange(signChange(each))).client).toEqual(each);
  });

  it("of a read has no client", async () => {
    const { sign: read } = createInternalRequestSigner(keys, "gateway", "accounts");
    const headers = read({ ...request, requestId: randomUUID(), traceparent, principal, client });
    expect((await sendRequest({ headers })).client).toBeUndefined();
  });

  it.each<[string, (headers: Record<string, string>) => Headers]>([
    ["another client address", (headers) => ({ ...headers, "x-pragma-client": "203.0.113.8" })],
    ["another user agent", (headers) => ({ ...headers, "user-agent": "curl" })],
    ["no user agent", ({ "user-agent": _, ...headers }) => headers],
    [
      "the signature of another client",
      (headers) => ({ ...signChange(otherClient), "x-pragma-client": clientOf(headers) }),
    ],
    ["no client", ({ "x-pragma-client": _, ...headers }) => headers],
    ["two clients", (headers) => ({ ...headers, "x-pragma-client": [clientOf(headers), clientOf(headers)] })],
  ])("of a change is rejected with %s", async (_, change) => {
    expect((await sendChange(change(signChange()))).code).toMatch(/^(key_missing|invalid_request)$/);
  });

  it("of a change is accepted once", async () => {
    const headers = signChange();
    expect(await sendChange(headers)).toMatchObject({ principal });
    expect((await sendChange(headers)).code).toBe("key_missing");
    const read = gatewayHeaders();
    for (let count = 0; count < 2; count += 1)
      expect(await sendRequest({ headers: read })).toMatchObject({ principal });
  });

  it.each<[string, (signature: string) => string]>([
    ["padding", (signature) => `${signature}=`],
    ["other unused bits", (signature) => `${signature.slice(0, -1)}${nextLetter(signature.at(-1) ?? "")}`],
    ["other characters", (signature) => `${signature}.`],
  ])("of a change is not accepted again with %s in its signature", async (_, respell) => {
    const headers = signChange();
    expect(await sendChange(headers)).toMatchObject({ principal });
    const [caller, id, expires, signature = "", nonce] = String(headers["x-pragma-signature"]).split(";");
    const respelled = respell(signature);
    expect(Buffer.from(respelled, "base64url")).toEqual(Buffer.from(signature, "base64url"));
    const repeated = { ...headers, "x-pragma-signature": [caller, id, expires, respelled, nonce].join(";") };
    expect((await sendChange(repeated)).code).toBe("key_missing");
  });

  const { signBody } = createInternalRequestSigner(keys, "gateway", "accounts");
  const text = Buffer.from('{"name":"Acme"}');
  const signChangeWithBody = () =>
    createInternalRequestSigner(keys, "gateway", "accounts").sign({
      ...changeTarget,
      ...{ requestId: randomUUID(), traceparent, principal, hasBody: true },
    });
  const sendBody = (headers: Headers, body: Buffer | undefined) =>
    sendRequest({ method: "POST", path: changeTarget.target, headers, body });
  const signatureOfBody = (headers: Record<string, string>, body: Buffer) => signBody(headers).update(body).digest();

  it("of a change covers the body, which the service receives without its signature", async () => {
    const headers = signChangeWithBody();
    const body = Buffer.concat([text, signatureOfBody(headers, text)]);
    expect(await sendBody(headers, body)).toMatchObject({ principal, body: text.toString() });
    const compressed = gzipSync(text);
    const gzipHeaders = signChangeWithBody();
    const gzipBody = Buffer.concat([compressed, signatureOfBody(gzipHeaders, compressed)]);
    expect(await sendBody({ ...gzipHeaders, "content-encoding": "gzip" }, gzipBody)).toMatchObject({
      body: text.toString(),
    });
  });

  it.each<[string, (body: Buffer, signature: Buffer) => Buffer | undefined]>([
    [
      "an altered body",
      (body, signature) => Buffer.concat([Buffer.from(body.toString().replace("A", "B")), signature]),
    ],
    ["a longer body", (body, signature) => Buffer.concat([body, Buffer.from(" "), signature])],
    ["a truncated body", (body, signature) => Buffer.concat([body.subarray(1), signature])],
    ["another signature", (body) => Buffer.concat([body, signatureOfBody(signChangeWithBody(), body)])],
    ["no signature", (body) => body],
    ["less than a signature", (_, signature) => signature.subarray(1)],
    ["no body", () => undefined],
  ])("of a change is rejected with %s", async (_, change) => {
    const headers = signChangeWithBody();
    expect((await sendBody(headers, change(text, signatureOfBody(headers, text)))).code).toBe("key_missing");
  });

  it("of a change without a body is rejected with a body", async () => {
    const headers = signChange();
    const body = Buffer.concat([text, signatureOfBody(headers, text)]);
    expect((await sendBody(headers, body)).code).toBe("key_missing");
  });

  it("is rejected when it has expired or claims a longer lifetime", async () => {
    const headers = gatewayHeaders();
    for (const expires of [-1, 600]) {
      const parts = String(headers["x-pragma-signature"]).split(";");
      parts[2] = String(Math.floor(Date.now() / 1000) + expires);
      expect((await sendRequest({ headers: { ...headers, "x-pragma-signature": parts.join(";") } })).code).toBe(
        "key_missing",
      );
    }
  });

  it.each(["x-forwarded-host", "x-forwarded-proto", "x-request-id", "x-pragma-principal", "x-pragma-signature"])(
    "is rejected when %s is repeated",
    async (name) => {
      const headers = gatewayHeaders();
      const repeatedHeaders = { ...headers, [name]: [String(headers[name]), String(headers[name])] };
      expect((await sendRequest({ headers: repeatedHeaders })).code).toBe("invalid_request");
    },
  );

  it("gives a service only its own scopes, whatever principal it sends", async () => {
    const { sign } = createInternalRequestSigner(keys, "catalog", "accounts");
    const asAdmin = buildTestPrincipal({ scopes: ["admin", "internal:keys"] });
    const identity = await sendRequest({
      headers: sign({ ...request, requestId: randomUUID(), traceparent, principal: asAdmin }),
    });
    expect(identity.principal).toMatchObject({ consumer: "catalog", scopes: ["internal:locations"], location: null });
  });

  it("is rejected when a service signs as the gateway with its own key", async () => {
    const forgedKeys = { ...keys, GATEWAY_TO_ACCOUNTS_KEYS: keys.CATALOG_TO_ACCOUNTS_KEYS };
    const { sign } = createInternalRequestSigner(forgedKeys, "gateway", "accounts");
    const identity = await sendRequest({
      headers: sign({ ...request, requestId: randomUUID(), traceparent, principal }),
    });
    expect(identity.code).toBe("key_missing");
  });

  it("cannot be signed or verified without a key", () => {
    expect(() => createInternalRequestSigner({}, "gateway", "accounts")).toThrow("GATEWAY_TO_ACCOUNTS_KEYS");
    expect(() => createInternalRequestVerifier({ ...keys, JOBS_TO_ACCOUNTS_KEYS: undefined }, "accounts")).toThrow(
      "JOBS_TO_ACCOUNTS_KEYS",
    );
  });
});

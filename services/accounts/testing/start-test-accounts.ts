import { type Problem, problemSchema } from "@pragma/contracts/errors";
import type { EventData, EventType } from "@pragma/contracts/events";
import type { Principal } from "@pragma/contracts/principal";
import type { ApiScope } from "@pragma/contracts/scopes";
import type { Database } from "@pragma/runtime/database/postgres";
import { createTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { createTestPrincipal, startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { expect } from "vitest";
import type { z } from "zod";
import accounts from "../service.ts";

/** The accounts service of one test file. Its methods send requests as the operator by default. */
export interface TestAccountsService extends TestService {
  /** Sends a GET request, expects status 200, and returns the response body parsed with the schema. */
  getJson<Schema extends z.ZodType>(path: string, schema: Schema, principal?: Principal): Promise<z.output<Schema>>;
  /** Sends a request, expects this status, and returns the response body parsed with the schema. */
  sendJson<Schema extends z.ZodType>(
    request: TestRequest,
    expected: ExpectedResponse<Schema>,
  ): Promise<z.output<Schema>>;
  /** Sends a request and returns the problem details of its response. */
  requestProblem(request: TestRequest): Promise<Problem>;
  /** Returns the published events of a type and subject, oldest first. */
  findEvents<Type extends EventType>(type: Type, subject: string): Promise<EventData<Type>[]>;
  remove(): Promise<void>;
}

interface TestRequest {
  method: string;
  path: string;
  body?: unknown;
  principal?: Principal;
  headers?: Record<string, string>;
}

interface ExpectedResponse<Schema> {
  status: number;
  schema: Schema;
}

/** The operator, with the scope admin. */
export const operatorTestPrincipal = createTestPrincipal({ consumer: "admin", scopes: ["admin"], location: null });

/** The gateway, with the internal scopes. */
export const gatewayTestPrincipal = createTestPrincipal({
  consumer: "gateway",
  scopes: ["internal:keys", "internal:locations"],
  location: null,
});

/** Returns a principal of one location with these scopes. */
export function createLocationPrincipal(locationId: string, ...scopes: ApiScope[]): Principal {
  const location = { id: locationId, application: "POPINA" as const, legacyId: null, timeZone: "Europe/Paris" };
  return createTestPrincipal({ scopes, location });
}

export const testAdminKey = "an-admin-key-for-tests-only";

export async function startTestAccountsService(variables: Record<string, string> = {}): Promise<TestAccountsService> {
  const environment = await createTestEnvironment({ PRAGMA_ADMIN_KEY: testAdminKey, ...variables });
  const service = await startTestService(accounts, environment);
  await recordOutboxEvents(service.db);
  const sendRequest = ({ method, path, body, principal = operatorTestPrincipal, headers = {} }: TestRequest) =>
    service.request(method, path, { principal, headers, ...(body !== undefined && { body }) });
  const sendJson: TestAccountsService["sendJson"] = async (request, { status, schema }) => {
    const response = await sendRequest(request);
    const text = await response.text();
    expect(response.status, text).toBe(status);
    return schema.parse(JSON.parse(text)) as z.output<typeof schema>;
  };
  return {
    ...service,
    sendJson,
    getJson: (path, schema, principal) =>
      sendJson({ method: "GET", path, ...(principal && { principal }) }, { status: 200, schema }),
    async requestProblem(request) {
      const response = await sendRequest(request);
      const text = await response.text();
      expect(response.headers.get("content-type"), text).toBe("application/problem+json");
      const problem = problemSchema.parse(JSON.parse(text));
      expect(problem.status).toBe(response.status);
      return problem;
    },
    async findEvents(type, subject) {
      const rows = await service.db.sql<
        { body: string }[]
      >`select body from published_events where type = ${type} order by position`;
      return rows
        .map(({ body }) => JSON.parse(body))
        .filter((event) => event.subject === subject)
        .map(({ data }) => data);
    },
    async remove() {
      await service.stop();
      await environment.remove();
    },
  };
}

/** Copies each event from the outbox to another table, because sent events are deleted from the outbox. */
async function recordOutboxEvents({ sql }: Database): Promise<void> {
  await sql.unsafe(`
    create table published_events (like outbox);
    create function record_event() returns trigger language plpgsql as
      'begin insert into published_events select new.*; return null; end';
    create trigger record_event after insert on outbox for each row execute function record_event();`);
}

import { type Problem, problemSchema } from "@pragma/contracts/errors";
import type { EventData, EventType } from "@pragma/contracts/events";
import type { Principal } from "@pragma/contracts/principal";
import type { Scope } from "@pragma/contracts/scopes";
import type { Database } from "@pragma/runtime/database/postgres";
import { createTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { createTestPrincipal, startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { expect } from "vitest";
import type { z } from "zod";
import accounts from "../service.ts";

/** The accounts service for one test file, asked as the operator unless told otherwise. */
export interface TestAccountsService extends TestService {
  /** Asks, expects this status, and gives the reply, which has to be what the schema describes. */
  getJson<Schema extends z.ZodType>(path: string, schema: Schema, principal?: Principal): Promise<z.output<Schema>>;
  sendJson<Schema extends z.ZodType>(
    request: TestRequest,
    expected: ExpectedResponse<Schema>,
  ): Promise<z.output<Schema>>;
  /** Asks, and gives the problem that is answered. */
  requestProblem(request: TestRequest): Promise<Problem>;
  /** The events of a type about something, oldest first. */
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

/** The operator, who may do everything. */
export const operatorPrincipal = createTestPrincipal({ consumer: "admin", scopes: ["admin"], location: null });

/** Another part of the product. */
export const gatewayTestPrincipal = createTestPrincipal({
  consumer: "gateway",
  scopes: ["internal:keys", "internal:locations"],
  location: null,
});

/** A key of one location with these scopes. */
export function locationPrincipal(locationId: string, ...scopes: Scope[]): Principal {
  const location = { id: locationId, application: "POPINA" as const, legacyId: null, timeZone: "Europe/Paris" };
  return createTestPrincipal({ scopes, location });
}

export const testAdminKey = "an-admin-key-for-tests-only";

export async function startTestAccounts(variables: Record<string, string> = {}): Promise<TestAccountsService> {
  const environment = await createTestEnvironment({ PRAGMA_ADMIN_KEY: testAdminKey, ...variables });
  const service = await startTestService(accounts, environment);
  await recordOutboxEvents(service.db);
  const sendRequest = ({ method, path, body, principal = operatorPrincipal, headers = {} }: TestRequest) =>
    service.request(method, path, { principal, headers, ...(body !== undefined && { body }) });
  const send: TestAccountsService["sendJson"] = async (request, { status, schema }) => {
    const response = await sendRequest(request);
    const text = await response.text();
    expect(response.status, text).toBe(status);
    return schema.parse(JSON.parse(text)) as z.output<typeof schema>;
  };
  return {
    ...service,
    sendJson: send,
    getJson: (path, schema, principal) =>
      send({ method: "GET", path, ...(principal && { principal }) }, { status: 200, schema }),
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
      >`select body from written where type = ${type} order by position`;
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

/** Keeps what is written to the outbox, from which it is gone once it is sent. */
async function recordOutboxEvents({ sql }: Database): Promise<void> {
  await sql.unsafe(`
    create table written (like outbox);
    create function keep_event() returns trigger language plpgsql as
      'begin insert into written select new.*; return null; end';
    create trigger keep_event after insert on outbox for each row execute function keep_event();`);
}

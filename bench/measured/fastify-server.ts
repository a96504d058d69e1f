/**
 * The baseline of a product in one process: a Fastify process that reads the same JSON from the same PostgreSQL server.
 * It has the features of the gateway (see fastify-app.ts) and returns an order, a report, or a page of orders.
 */
import etag from "@fastify/etag";
import { ApiError } from "@pragma/contracts/errors";
import { buildPaginationFields } from "@pragma/runtime/http/page-response";
import { encodePageToken } from "@pragma/runtime/http/page-token";
import type { FastifyReply, FastifyRequest } from "fastify";
import postgres from "postgres";
import { createFastifyGatewayBaseline } from "./fastify-app.ts";

const { DATABASE_URL = "", REPORTING_SCHEMA = "", PORT, VARIANT } = process.env;
const isTuned = VARIANT === "tuned";
const jsonType = "application/json; charset=utf-8";
/** The maximum number of connections is the same as in a service. */
const sql = postgres(DATABASE_URL, { max: 10, connection: { search_path: REPORTING_SCHEMA } });
const app = await createFastifyGatewayBaseline({ hasBufferedLog: isTuned });

interface TaggedBody {
  body: string;
  etag: string;
}

interface IdRoute {
  Params: { id: string };
}

const idRouteOptions = {
  schema: { params: { type: "object", properties: { id: { type: "string", format: "uuid" } }, required: ["id"] } },
};

function sendTagged(reply: FastifyReply, { body, etag: tag }: TaggedBody): FastifyReply {
  if (isTuned) reply.header("etag", `"${tag}"`);
  return reply.header("cache-control", "private, no-cache").type(jsonType).send(body);
}

await app.register(async (etagApp) => {
  // Without a stored tag, the plugin computes one from the body. It also compares If-None-Match with the tag.
  await etagApp.register(etag);
  etagApp.get<IdRoute>(
    "/v1/orders/:id",
    { ...idRouteOptions, config: { scope: "orders:read" } },
    async (request, reply) => {
      const { id } = request.params;
      const [order] = await sql<TaggedBody[]>`
      select v1 as body, etag from orders where id = ${id} and is_current and location_id = ${requireLocationId(request)}
      order by pushed_at desc limit 1`;
      if (!order) throw new ApiError("order_not_found", { detail: `This location has no order ${id}.` });
      return sendTagged(reply, order);
    },
  );
  etagApp.get<IdRoute>(
    "/v2/reports/:id",
    { ...idRouteOptions, config: { scope: "reports:read" } },
    async (request, reply) => {
      const { id } = request.params;
      const [report] = await sql<TaggedBody[]>`
      select v2 as body, etag from reports where id = ${id} and location_id = ${requireLocationId(request)}`;
      if (!report) throw new ApiError("report_not_found", { detail: `This location has no report ${id}.` });
      return sendTagged(reply, report);
    },
  );
});

interface PageRoute {
  Querystring: { size: number; index: number };
}

const pageQuerySchema = {
  type: "object",
  properties: {
    size: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    index: { type: "integer", minimum: 0, default: 0 },
  },
};

app.get<PageRoute>(
  "/v1/orders/",
  { schema: { querystring: pageQuerySchema }, config: { scope: "orders:read" } },
  async (request, reply) => {
    const { size, index } = request.query;
    const locationId = requireLocationId(request);
    const [rows, [counted]] = await Promise.all([
      sql<{ id: string; day: Date; at: Date; body: string }[]>`
        select id, day, opened_at as at, v1 as body from orders
        where location_id = ${locationId} and is_current
        order by day desc, opened_at desc, id desc offset ${index * size} limit ${size + 1}`,
      sql<[{ total: number }]>`
        select count(*)::int as total from orders where location_id = ${locationId} and is_current`,
    ]);
    const shown = rows.slice(0, size);
    const last = rows.length > size ? shown.at(-1) : undefined;
    const origin = `${request.protocol}://${request.host}`;
    const fields = buildPaginationFields({
      ...{ total: counted.total, index, size, origin },
      url: new URL(request.url, origin),
      nextPageToken: last ? encodePageToken({ ...pageTokenFields(last), index: index + 1 }) : null,
    });
    // The stored JSON is joined as text, without parsing, as in all responses of this server.
    const data = shown.map(({ body }) => body).join(",");
    return reply.type(jsonType).send(`{"data":[${data}],${JSON.stringify(fields).slice(1)}`);
  },
);

/** Returns the sort key of an order for a page token. */
function pageTokenFields({ id, day, at }: { id: string; day: Date; at: Date }): Record<string, string> {
  return { id, day: day.toISOString().slice(0, 10), at: at.toISOString().replace(/\.?0+Z$/, "Z") };
}

function requireLocationId({ principal: { location } }: FastifyRequest): string {
  if (!location) throw new ApiError("location_forbidden", { detail: "This API key belongs to no location." });
  return location.id;
}

await app.listen({ port: Number(PORT), host: "127.0.0.1" });

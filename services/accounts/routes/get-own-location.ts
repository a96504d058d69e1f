import { maxDevices } from "@pragma/contracts/device";
import { LocationHeader } from "@pragma/contracts/location";
import { integerInQuery } from "@pragma/contracts/pagination";
import { ownLocation } from "@pragma/runtime/own-location";
import { taggedByContent } from "@pragma/runtime/reply";
import { z } from "zod";
import { defineRoute } from "../accounts.ts";
import { locationNotFound, showHeader } from "../locations.ts";
import { findLocation, listDevices } from "../queries/locations.ts";

const query = z.object({
  devices: z
    .literal("true")
    .optional()
    .meta({ description: "Give true for the devices as well; leave it out otherwise" }),
  index: integerInQuery(z.int().min(0))
    .default(0)
    .meta({ description: "Zero-based page of the devices", example: 0, type: "integer", minimum: 0, default: 0 }),
  size: integerInQuery(z.int().min(1).max(maxDevices))
    .default(maxDevices)
    .meta({
      ...{ description: "Devices a page; all of them unless given", example: maxDevices },
      ...{ type: "integer", minimum: 1, maximum: maxDevices, default: maxDevices },
    }),
  locationId: z.guid().optional().meta({ description: "The location of the key, unless the key may act for any" }),
});

export const getOwnLocationRoute = defineRoute({
  method: "get",
  path: "/v1/locations/own",
  operationId: "getOwnLocation",
  tag: "Locations",
  audience: "public",
  scope: "locations:read",
  summary: "Get the key's own location",
  description:
    "The header of the location's tickets: name, address and registration numbers; with devices=true also the devices that were seen in its tills and live orders, in the order in which they were first seen. The 200 devices that were seen last are kept.",
  request: { query },
  responses: {
    200: {
      description: "The header of the location",
      schema: LocationHeader,
      example: {
        id: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
        name: "Le Bistrot",
        address: "12 rue des Lilas",
        zip: "75020",
        city: "Paris",
        country: "France",
        phone: "+33 1 02 03 04 05",
        url: "https://bistrot.example",
        siret: "12345678900011",
        naf: "5610A",
        tva: "FR12345678900",
        text: null,
        deviceList: [{ id: "B7F2", name: "Bar", model: "iPad Air" }],
      },
    },
    304: { description: "The client has it already" },
  },
  errors: ["location_forbidden", "location_not_found"],
  async handle({ query, principal, services, header }) {
    const id = ownLocation(principal, query.locationId);
    const location = await findLocation(services.db, id);
    if (!location) throw locationNotFound(id);
    const { devices, index, size } = query;
    const deviceList = devices && (await listDevices(services.db, id, { offset: index * size, limit: size }));
    const own = { ...showHeader(location), ...(deviceList && { deviceList }) };
    return taggedByContent(JSON.stringify(own), { ifNoneMatch: header("if-none-match") });
  },
});

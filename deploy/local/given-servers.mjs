import { urlVariable, wanted } from "./binaries.mjs";
import { Failure } from "./failure.mjs";
import { hearFrom } from "./probe.mjs";

/** @typedef {import("./binaries.mjs").ServerKind} ServerKind */

/** How each server answers a client that greets it, and the port it is on unless its URL names one. */
const manners = {
  // SSLRequest: one letter says whether it speaks TLS.
  postgres: { port: 5432, greeting: Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]), until: /./s, wanted: /^[SN]/ },
  nats: { port: 4222, greeting: undefined, until: /\n/, wanted: /^INFO .*"jetstream":\s*true/ },
  redis: { port: 6379, greeting: "PING\r\n", until: /\n/, wanted: /^(\+PONG|-NOAUTH|-LOADING)/ },
};

/**
 * The server of this kind that the environment names, run by somebody else: it is neither started nor stopped here.
 * @param {ServerKind} kind
 * @returns {Promise<string | undefined>} its URL; undefined when the environment names none
 * @throws {Failure} when it does not answer
 */
export async function givenServer(kind) {
  const variable = urlVariable[kind];
  const given = process.env[variable];
  if (given === undefined || given === "") return undefined;
  const answers = await Promise.all(given.split(",").map((url) => answersAt(kind, url.trim(), variable)));
  if (answers.includes(true)) return given;
  const needs = kind === "nats" ? " (with JetStream)" : "";
  throw new Failure(
    `${wanted[kind].name}${needs} does not answer at the address in ${variable}. Start it, or unset ${variable}.`,
  );
}

/**
 * @param {ServerKind} kind
 * @param {string} text
 * @param {string} variable
 * @returns {Promise<boolean>}
 */
async function answersAt(kind, text, variable) {
  const address = text.includes("://") ? text : `${kind}://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.hostname === "") throw new Failure(`${variable} is not a URL with a host.`);
  const { port, greeting, until, wanted: wantedAnswer } = manners[kind];
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const secure = url.protocol === "rediss:";
  const answer = await hearFrom({ host, port: Number(url.port) || port, greeting, secure, until, withinMs: 5_000 });
  return wantedAnswer.test(answer ?? "");
}

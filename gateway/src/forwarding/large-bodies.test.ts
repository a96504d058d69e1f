import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type GatewaysInBothModes,
  testApiKey as key,
  startGatewaysInBothModes,
} from "../testing/in-process-and-remote-gateways.ts";
import {
  formatRequestHead,
  openRawTcpConnection,
  readRawSocketResponse,
  writeChunkRepeatedly,
} from "../testing/raw-client.ts";
import { createControlledTestService } from "../testing/test-service.ts";

const observations = { abortedRequests: 0, pulledChunks: 0 };
let gateways: GatewaysInBothModes;

beforeAll(async () => {
  gateways = await startGatewaysInBothModes(createControlledTestService(observations), {
    UPSTREAM_TIMEOUT_SECONDS: "1",
  });
});
afterAll(() => gateways?.stop());

describe.each(["in-process", "remote"] as const)("a service (%s)", (placement) => {
  const sendRequest = (path: string, init: RequestInit = {}) =>
    gateways[placement].request(`/v2/reports/${path}`, { key, ...init });
  const openGatewaySocket = () => openRawTcpConnection(gateways[placement].port);
  const authorization = `Bearer ${key}`;

  describe("does not receive 51 MB:", () => {
    const mebibyte = Buffer.alloc(1024 * 1024);

    it("a client that sends Content-Length gets 413", async () => {
      const socket = await openGatewaySocket();
      socket.pause();
      socket.write(
        formatRequestHead("POST /v2/reports/till", { authorization, "content-length": 51 * mebibyte.length }),
      );
      expect(await writeChunkRepeatedly(socket, mebibyte, 51)).toBe(true);
      const reading = readRawSocketResponse(socket);
      socket.resume();
      const response = await reading;
      expect(response).toMatchObject({ status: 413, isTruncated: false });
      expect(JSON.parse(response.body.toString())).toMatchObject({ code: "body_too_large" });
    });

    it("a client that sends chunks gets 413 after the limit", async () => {
      const socket = await openGatewaySocket();
      socket.pause();
      socket.write(formatRequestHead("POST /v2/reports/till", { authorization, "transfer-encoding": "chunked" }));
      const chunk = Buffer.concat([Buffer.from("100000\r\n"), mebibyte, Buffer.from("\r\n")]);
      expect(await writeChunkRepeatedly(socket, chunk, 51)).toBe(true);
      socket.write("0\r\n\r\n");
      const reading = readRawSocketResponse(socket);
      socket.resume();
      const response = await reading;
      expect(response).toMatchObject({ status: 413, isTruncated: false });
      expect(JSON.parse(response.body.toString())).toMatchObject({ code: "body_too_large" });
    });

    it("a client that never stops sending gets 413 and is disconnected", async () => {
      const socket = await openGatewaySocket();
      socket.write(formatRequestHead("POST /v2/reports/till", { authorization, "transfer-encoding": "chunked" }));
      const chunk = Buffer.concat([Buffer.from("100000\r\n"), mebibyte, Buffer.from("\r\n")]);
      const reading = readRawSocketResponse(socket);
      void writeChunkRepeatedly(socket, chunk, 60);
      const response = await reading;
      expect(response.status).toBe(413);
      expect(JSON.parse(response.body.toString())).toMatchObject({ code: "body_too_large" });
      socket.destroy();
    });

    it("a client that sends Expect: 100-continue gets 413 and sends nothing", async () => {
      const socket = await openGatewaySocket();
      socket.write(
        formatRequestHead("POST /v2/reports/till", {
          authorization,
          "content-length": 51 * mebibyte.length,
          expect: "100-continue",
        }),
      );
      const response = await readRawSocketResponse(socket);
      expect(response).toMatchObject({ status: 413, headers: { connection: "close" } });
    });
  });

  it("receives 50 MB", async () => {
    const body = Buffer.alloc(50 * 1024 * 1024, "x");
    const response = await sendRequest("till", { method: "POST", body });
    expect(await response.json()).toEqual({ bytes: body.length });
  });
});

describe("a client without a key", () => {
  it("that sends Expect: 100-continue gets 401 and sends nothing", async () => {
    const socket = await openRawTcpConnection(gateways["in-process"].port);
    socket.write(formatRequestHead("POST /v2/reports/till", { "content-length": 1_000_000, expect: "100-continue" }));
    expect(await readRawSocketResponse(socket)).toMatchObject({ status: 401, headers: { connection: "close" } });
  });

  it("that sends a large body at once gets 401", async () => {
    const socket = await openRawTcpConnection(gateways["in-process"].port);
    socket.pause();
    socket.write(formatRequestHead("POST /v2/reports/till", { "content-length": 20 * 1024 * 1024 }));
    expect(await writeChunkRepeatedly(socket, Buffer.alloc(1024 * 1024), 20)).toBe(true);
    const reading = readRawSocketResponse(socket);
    socket.resume();
    expect(await reading).toMatchObject({ status: 401, isTruncated: false });
  });
});

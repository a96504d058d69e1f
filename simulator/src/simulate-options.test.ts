import { describe, expect, it } from "vitest";
import { parseSimulateCommandOptions } from "./simulate-options.ts";

const read = (args: string, environment = {}) =>
  parseSimulateCommandOptions(args.split(" ").filter(Boolean), environment);

describe("the options of npm run simulate", () => {
  it("are listed by --help", () => {
    const help = read("--help");
    for (const name of ["--url", "--key", "--admin-key", "--speed", "--rate", "--locations", "--days", "--seed"])
      expect(help).toContain(name);
  });

  it("require only a key", () => {
    expect(read("--key mine")).toMatchObject({
      url: "http://localhost:4000",
      key: ["mine"],
      speed: 60,
      days: 1,
    });
  });

  it("can be set in the environment, and the command line takes precedence", () => {
    const environment = { PRAGMA_URL: "http://api.example/", PRAGMA_KEY: "ours", PRAGMA_ADMIN_KEY: "operator's" };
    expect(read("", environment)).toMatchObject({ url: "http://api.example", key: ["ours"] });
    expect(read("--admin-key admin", environment)).toMatchObject({ key: [], "admin-key": "admin" });
  });

  it.each([
    ["--speed fast --key a", "--speed"],
    ["--days 0 --key a", "--days"],
    ["", "--key or --admin-key"],
    ["--key a --admin-key b", "--key or --admin-key"],
    ["--sped 60 --key a", "--sped"],
  ])("are rejected with the invalid option: %j", (args, message) => {
    expect(() => read(args)).toThrow(message);
  });
});

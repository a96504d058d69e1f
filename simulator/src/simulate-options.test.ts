import { describe, expect, it } from "vitest";
import { readSimulateOptions } from "./simulate-options.ts";

const read = (args: string, environment = {}) => readSimulateOptions(args.split(" ").filter(Boolean), environment);

describe("the options of npm run simulate", () => {
  it("are told on demand", () => {
    const help = read("--help");
    for (const name of ["--url", "--key", "--admin-key", "--speed", "--rate", "--locations", "--days", "--seed"])
      expect(help).toContain(name);
  });

  it("need no more than a key", () => {
    expect(read("--key mine")).toMatchObject({
      url: "http://localhost:4000",
      key: ["mine"],
      speed: 60,
      days: 1,
      forever: false,
    });
  });

  it("may stand in the environment, and are those of the command line where they are in both", () => {
    const environment = { PRAGMA_URL: "http://api.example/", PRAGMA_KEY: "ours", PRAGMA_ADMIN_KEY: "operator's" };
    expect(read("", environment)).toMatchObject({ url: "http://api.example", key: ["ours"] });
    expect(read("--admin-key given", environment)).toMatchObject({ key: [], "admin-key": "given" });
  });

  it.each([
    ["--speed fast --key a", "--speed"],
    ["--days 0 --key a", "--days"],
    ["--from 2026-02-30 --key a", "--from"],
    ["--time-zone Paris --key a", "--time-zone"],
    ["", "--key or --admin-key"],
    ["--key a --admin-key b", "--key or --admin-key"],
    ["--sped 60 --key a", "--sped"],
  ])("are refused with what is wrong with %j", (args, told) => {
    expect(() => read(args)).toThrow(told);
  });
});

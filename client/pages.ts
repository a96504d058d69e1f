import type { MaybeOptionalInit } from "openapi-fetch";
import type { PathsWithMethod } from "openapi-typescript-helpers";
import type { Call, DataOf, InitArgument } from "./calls.ts";

/** As much of a list's page as going through it takes. */
interface AnyPage {
  data: unknown[];
  nextPageToken: string | null;
}

/** A page of the list at a path. */
type PageAt<Paths, Path extends keyof Paths> = Extract<DataOf<Paths[Path]["get" & keyof Paths[Path]], object>, AnyPage>;

/** The paths of a document that answer with pages. */
type ListPath<Paths extends object> = {
  [Path in PathsWithMethod<Paths, "get">]: [PageAt<Paths, Path>] extends [never] ? never : Path;
}[PathsWithMethod<Paths, "get">];

type ListInit<Paths extends object, Path extends ListPath<Paths>> = MaybeOptionalInit<
  Paths[Path],
  "get" & keyof Paths[Path]
>;

export interface Lists<Paths extends object> {
  /** The pages of a list, from the first to the last, each asked for when it is wanted. 100 items each unless `size` says less. */
  pages<Path extends ListPath<Paths>, Init extends ListInit<Paths, Path>>(
    path: Path,
    ...init: InitArgument<Init>
  ): AsyncGenerator<PageAt<Paths, Path>, void>;
  /** The items of a list, one by one, through all its pages. */
  items<Path extends ListPath<Paths>, Init extends ListInit<Paths, Path>>(
    path: Path,
    ...init: InitArgument<Init>
  ): AsyncGenerator<PageAt<Paths, Path>["data"][number], void>;
}

type AnyInit = { params?: { query?: Record<string, unknown> } };
type AnyGet = (path: unknown, init: AnyInit) => Promise<{ data: AnyPage }>;

/**
 * Goes through lists by the token that each page gives for the next one. What comes into the list meanwhile moves
 * nothing: no item is met twice or passed over.
 */
export function listsOf<Paths extends object>(get: Call<Paths, "get">): Lists<Paths> {
  const getAny = get as unknown as AnyGet;

  async function* pages(path: unknown, init: AnyInit = {}) {
    let token: string | null = null;
    do {
      const query = { size: 100, ...init.params?.query, ...(token !== null && { pageToken: token }) };
      const { data } = await getAny(path, { ...init, params: { ...init.params, query } });
      yield data;
      token = data.nextPageToken;
    } while (token !== null);
  }

  async function* items(path: unknown, init: AnyInit = {}) {
    for await (const { data } of pages(path, init)) yield* data;
  }

  return { pages, items } as unknown as Lists<Paths>;
}

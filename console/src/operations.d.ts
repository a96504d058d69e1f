/** The operations of the API, which the build lists from the OpenAPI documents. */
declare module "virtual:operations" {
  interface Operation {
    /** The HTTP method in upper case. */
    method: string;
    /** The path, in which parameters are in braces. */
    path: string;
    /** The path of its page on the documentation site, without a slash at the beginning. */
    page: string;
  }
  const operations: readonly Operation[];
  export default operations;
}

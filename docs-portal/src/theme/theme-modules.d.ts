/** The part of docusaurus-theme-openapi-docs that the site uses unchanged. The package declares no types for it. */
declare module "@theme/ApiItem/Layout" {
  export { default } from "@theme/DocItem/Layout";
}

/*
 * The modules of docusaurus-theme-openapi-docs that the site uses. The package declares no types for them. The site
 * replaces all of them except the layout.
 */

declare module "@theme/ApiItem/Layout" {
  export { default } from "@theme/DocItem/Layout";
}

declare module "@theme/ApiExplorer" {
  export { default } from "@site/src/theme/ApiExplorer/index.tsx";
}

declare module "@theme/ApiExplorer/Export" {
  export { default } from "@site/src/theme/ApiExplorer/Export/index.tsx";
}

declare module "@theme/ApiExplorer/MethodEndpoint" {
  export { default } from "@site/src/theme/ApiExplorer/MethodEndpoint/index.tsx";
}

declare module "@theme/ParamsDetails" {
  export { default } from "@site/src/theme/ParamsDetails/index.tsx";
}

declare module "@theme/RequestSchema" {
  export { default } from "@site/src/theme/RequestSchema/index.tsx";
}

declare module "@theme/StatusCodes" {
  export { default } from "@site/src/theme/StatusCodes/index.tsx";
}

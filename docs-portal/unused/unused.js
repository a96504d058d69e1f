// `overrides` of ../package.json installs this file instead of packages that Docusaurus loads, but that only its other
// commands use: the development server, the check for updates, the report of bundle sizes, Sass, and Swagger 2.
module.exports = () => ({});

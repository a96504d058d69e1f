/** The font of the site. The drawings contain the characters that they need, because images cannot use other files. */
const fontFamily = "Inter";

/**
 * Returns the Mermaid theme variables for a color mode of the site.
 * @param {{ page: string, text: string, line: string, box: string, edge: string, note: string }} colors
 */
function createThemeVariables({ page, text, line, box, edge, note }) {
  return {
    fontFamily,
    fontSize: "14px",
    background: page,
    textColor: text,
    lineColor: line,
    primaryColor: box,
    primaryTextColor: text,
    primaryBorderColor: edge,
    mainBkg: box,
    nodeBorder: edge,
    edgeLabelBackground: page,
    clusterBkg: page,
    clusterBorder: line,
    titleColor: text,
    actorBkg: box,
    actorBorder: edge,
    actorTextColor: text,
    actorLineColor: line,
    signalColor: line,
    signalTextColor: text,
    noteBkgColor: note,
    noteBorderColor: line,
    noteTextColor: text,
  };
}

/** The colors are those of `src/css/palette.css`. */
const themeColors = {
  light: { page: "#ffffff", text: "#0b1b30", line: "#55647c", box: "#e7f3ff", edge: "#0a5fc2", note: "#f4f8fc" },
  dark: { page: "#0c121b", text: "#f3f7fc", line: "#97a7bb", box: "#10294a", edge: "#62b4ff", note: "#141d29" },
};

/** The distances in a drawing. The narrow drawing fits a phone. */
const layouts = {
  wide: {
    flowchart: { nodeSpacing: 28, rankSpacing: 40, wrappingWidth: 150 },
    sequence: { actorMargin: 90, width: 150 },
  },
  narrow: {
    flowchart: { nodeSpacing: 10, rankSpacing: 34, wrappingWidth: 84, padding: 8 },
    sequence: { actorMargin: 10, width: 90 },
  },
};

/**
 * Returns the source of the drawing for a width. On narrow screens, what is from left to right elsewhere is from top to
 * bottom, and the other way round.
 * @param {string} source
 * @param {string} width `wide` or `narrow`
 */
export function layOutDiagram(source, width) {
  if (width === "wide") return source;
  const turned = { LR: "TB", TB: "LR" };
  return source.replace(/^%%\{init.*\n/, "").replace(/\b(flowchart|direction) (LR|TB)$/gm, (_, word, direction) => {
    return `${word} ${turned[/** @type {keyof typeof turned} */ (direction)]}`;
  });
}

/** The Mermaid configurations by width and color mode. Labels are SVG text, because many viewers render no HTML. */
export const mermaidConfigs = Object.entries(layouts).flatMap(([width, layout]) =>
  Object.entries(themeColors).map(([mode, colors]) => ({
    width,
    mode,
    config: {
      startOnLoad: false,
      theme: "base",
      themeCSS:
        ".edgeLabel rect { opacity: 1; } .cluster rect { stroke-opacity: 0.5; } .cluster rect, .node rect, rect.actor, rect.note { rx: 6px; ry: 6px; } .messageText, .noteText, text.actor, .noteText tspan, text.actor > tspan { font-size: 14px !important; }",
      themeVariables: createThemeVariables(colors),
      fontFamily,
      fontSize: 14,
      htmlLabels: false,
      flowchart: {
        useMaxWidth: false,
        htmlLabels: false,
        diagramPadding: 4,
        subGraphTitleMargin: { top: 8, bottom: 12 },
        ...layout.flowchart,
      },
      sequence: {
        useMaxWidth: false,
        mirrorActors: false,
        ...layout.sequence,
        diagramMarginX: 4,
        diagramMarginY: 4,
        actorFontSize: 14,
        messageFontSize: 14,
        noteFontSize: 14,
        actorFontFamily: fontFamily,
        messageFontFamily: fontFamily,
        noteFontFamily: fontFamily,
      },
    },
  })),
);

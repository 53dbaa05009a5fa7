// The suite imports a function that Node has since version 22 and never calls
// it when it tests a server. This hook lets it start on older ones.
export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (!url.endsWith("/conformance/dist/index.js")) return loaded;
  const source = String(loaded.source);
  const name = /globSync as (\w+),/.exec(source)?.[1];
  if (!name) return loaded;
  return { ...loaded, source: source.replace(`globSync as ${name},`, "") + `\nfunction ${name}() { throw new Error("globSync is missing"); }\n` };
}

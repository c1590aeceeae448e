//! Words in names, which decide whether the name denotes a secret.

/// Providers whose keys have no recognisable form, so that only the name of a key identifies its
/// provider. The second text is the kind of such a key.
pub(super) const PROVIDERS: &[(&str, &str)] = &[
    ("algolia", "algolia-key"),
    ("auth0", "auth0-secret"),
    ("aws", "aws-secret-key"),
    ("azure", "azure-key"),
    ("cloudflare", "cloudflare-token"),
    ("co", "cohere-key"),
    ("cohere", "cohere-key"),
    ("datadog", "datadog-key"),
    ("dd", "datadog-key"),
    ("deepgram", "deepgram-key"),
    ("deepseek", "deepseek-key"),
    ("discord", "discord-token"),
    ("fastly", "fastly-token"),
    ("heroku", "heroku-key"),
    ("jira", "atlassian-token"),
    ("mailgun", "mailgun-key"),
    ("mapbox", "mapbox-token"),
    ("mistral", "mistral-key"),
    ("okta", "okta-token"),
    ("pagerduty", "pagerduty-key"),
    ("paypal", "paypal-token"),
    ("plaid", "plaid-token"),
    ("telegram", "telegram-token"),
    ("together", "together-key"),
    ("twilio", "twilio-key"),
    ("vercel", "vercel-token"),
    ("voyage", "voyage-key"),
];

/// Words after which `key` denotes a secret. After other words, `key` is only a hint, because most
/// keys belong to maps, tables and keyboards.
#[rustfmt::skip]
pub(super) const UNLOCKING: &[&str] = &[
    "access", "account", "admin", "aes", "api", "app", "application", "auth", "authentication", "bot",
    "client", "consumer", "instrumentation", "crypto", "customer", "decryption", "deploy", "developer", "encrypt",
    "encryption", "hmac", "integration", "jwt", "license", "licence", "live", "master",
    "private", "priv", "project", "rest", "root", "secret", "security", "server", "service",
    "shared", "sign", "signature", "signing", "storage", "subscription", "token", "webhook",
    "write",
];

/// Words after which `key`, `token` or `pass` denotes a public or harmless value.
#[rustfmt::skip]
pub(super) const OPEN: &[&str] = &[
    "bos", "cache", "cancel", "cancellation", "cls", "continuation", "cursor", "design", "eos",
    "foreign", "host", "idempotency", "input", "max", "min", "next", "num", "output", "pad",
    "page", "prev", "previous", "primary", "pub", "public", "publishable", "sep", "stop",
    "sync", "total", "unk", "verification", "verify",
];

/// Words after which `pass` does not denote a password, as in `first_pass`.
#[rustfmt::skip]
pub(super) const PASSING: &[&str] = &[
    "by", "debug", "first", "last", "multi", "one", "optimization", "render", "second", "single",
    "to", "two",
];

/// Words after which `key` denotes the key of a map, a table or a keyboard.
#[rustfmt::skip]
pub(super) const MAPPING: &[&str] = &[
    "any", "arrow", "cache", "column", "composite", "context", "ctrl", "data", "dict", "enter",
    "escape", "event", "field", "group", "hash", "hot", "i18n", "index", "json", "label", "lookup",
    "map", "message", "meta", "name", "object", "order", "partition", "path", "property", "range",
    "record", "registry", "routing", "row", "search", "shift", "shortcut", "sort", "tab", "tag",
    "translation", "unique",
];

/// Words after the word for the secret that do not change the meaning of the name:
/// `PASSWORD_PROD`, `SECRET_KEY_BASE`.
#[rustfmt::skip]
pub(super) const NEUTRAL: &[&str] = &[
    "admin", "again", "b64", "base", "base64", "confirm", "confirmation", "current", "data", "default",
    "dev", "github", "gitlab", "live", "local", "main", "new", "old", "plain", "plaintext",
    "prod", "production", "raw", "readonly", "repeat", "root", "sandbox", "staging", "string",
    "test", "text", "user", "value", "write",
];

/// Words after `password` with which a name does not denote a password, as in `password_policy`.
#[rustfmt::skip]
pub(super) const ASPECTS: &[&str] = &[
    "age", "algorithm", "alg", "algo", "attempt", "attempts", "auth", "authentication", "authenticator",
    "box", "button", "callback", "chars", "change", "changed", "charset", "check", "checker", "class",
    "column", "command", "complexity", "component", "config", "context", "cost", "count", "credential",
    "date", "days", "digest", "digits", "email", "enabled", "encoder", "encrypted", "encryption",
    "endpoint", "entry", "env", "error", "errors", "event", "exp", "expiration", "expired", "expires",
    "expiry", "factory", "field", "file", "fingerprint", "flow", "form", "format", "generator", "grant",
    "handler", "hash", "hashed", "hasher", "hashers", "hashing", "help", "helper", "hint", "history",
    "id", "index", "input", "iterations", "key", "label", "length", "len", "level", "limit", "link",
    "list", "login", "manager", "mask", "max", "message", "method", "min", "mode", "model", "module",
    "name", "options", "page", "param", "parameter", "path", "pattern", "placeholder", "policy",
    "prefix", "prompt", "property", "protected", "protection", "provider", "ref", "reference", "regex",
    "regexp", "request", "required", "requirements", "reset", "response", "ressource", "resource",
    "result", "retries", "rounds", "route", "row", "rule", "rules", "salt", "schema", "score", "screen",
    "scheme", "selector", "service", "set", "size", "source", "state", "status", "stdin", "store", "strategy",
    "strength", "suffix", "symbol", "table", "template", "text", "time", "timeout", "title", "token",
    "tokens", "ttl", "type", "updated", "uri", "url", "utils", "validation", "validator", "validity",
    "version", "view", "visibility", "visible",
];

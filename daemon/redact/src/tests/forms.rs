//! Secrets with a recognisable form, in various contexts.

use crate::{
    Redactor,
    rules::RULES,
    tests::fake_secrets::{TestRng, find_leak, secret},
};

/// The kind and a template of the secret.
const FORMS: &[(&str, &str)] = &[
    ("aws-access-key", "AK|IA{216}"),
    ("aws-access-key", "AS|IA{216}"),
    ("aws-session-token", "IQoJb3Jp|Z2lu{b200}"),
    ("aws-bedrock-key", "AB|SK{b110}="),
    ("aws-bedrock-key", "bedrock-api-|key-{b100}"),
    ("aws-marketplace-token", "amzn.|mws.{u}"),
    ("google-api-key", "AI|za{w34}x"),
    ("google-api-key", "AQ.|Ab{w48}x"),
    ("google-oauth-secret", "GOC|SPX-{w27}x"),
    ("google-oauth-token", "ya|29.{w100}x"),
    ("google-oauth-token", "1/|/0{w60}x"),
    ("firebase-key", "AA|AA{a7}:APA|91{w130}x"),
    ("azure-ad-secret", "{a3}8Q|~{a34}"),
    ("azure-key", "{a52}JQQ|J99{a26}"),
    ("azure-key", "{b76}+A|St{b4}wA=="),
    ("azure-devops-token", "{a76}AZ|DO{a4}"),
    ("alibaba-key", "LT|AI{a20}"),
    ("tencent-key", "AK|ID{a32}"),
    ("yandex-key", "AQ|VN{a38}"),
    ("digitalocean-token", "dop|_v1_{h64}"),
    ("digitalocean-token", "doo|_v1_{h64}"),
    ("cloudflare-token", "cf|ut_{a40}"),
    ("cloudflare-origin-key", "v1|.0-{h24}-{h146}"),
    ("heroku-key", "HR|KU-{u}"),
    ("vercel-token", "vc|p_{a40}"),
    ("netlify-token", "nf|p_{a36}"),
    ("fly-token", "fm|2_{b80}"),
    ("render-token", "rn|d_{a32}"),
    ("supabase-key", "sb|p_{h40}"),
    ("supabase-key", "sb_|secret_{w31}x"),
    ("planetscale-token", "pscale|_tkn_{a43}"),
    ("neon-key", "na|pi_{l64}"),
    ("scaleway-key", "SC|W{A17}"),
    ("tailscale-key", "ts|key-auth-{a12}-{a32}"),
    ("openshift-token", "sha|256~{a43}"),
    ("github-token", "gh|p_{a36}"),
    ("github-token", "gh|o_{a36}"),
    ("github-token", "gh|u_{a36}"),
    ("github-token", "gh|s_{a36}"),
    ("github-token", "gh|r_{a36}"),
    ("github-token", "github|_pat_{a22}_{a59}"),
    ("github-token", "v|1.{h40}"),
    ("gitlab-token", "gl|pat-{w19}x"),
    ("gitlab-token", "gl|pat-{a27}.01.{l9}"),
    ("gitlab-token", "gl|dt-{w19}x"),
    ("gitlab-token", "gl|cbt-64_{a20}"),
    ("gitlab-token", "GR13|48941{a20}"),
    ("bitbucket-token", "AT|BB{a32}"),
    ("bitbucket-token", "BB|DC-{a44}"),
    ("atlassian-token", "AT|ATT3xFfGF0{w176}={H8}"),
    ("npm-token", "np|m_{a36}"),
    ("pypi-token", "py|pi-AgEIcHlwaS5vcmc{w120}x"),
    ("crates-io-token", "ci|o{a32}"),
    ("rubygems-token", "ruby|gems_{h48}"),
    ("nuget-key", "oy|2{l43}"),
    ("docker-token", "dckr|_pat_{w26}x"),
    ("clojars-token", "CLO|JARS_{l60}"),
    ("jfrog-token", "AK|Cp{a69}"),
    ("circleci-token", "CCI|PAT_{a22}_{h40}"),
    ("buildkite-token", "bk|ua_{h40}"),
    ("sonar-token", "sq|p_{h40}"),
    ("snyk-token", "sn|yk_uat.{h8}.{a40}"),
    ("sourcegraph-token", "sg|p_{h16}_{h40}"),
    ("postman-key", "PM|AK-{h24}-{h34}"),
    ("octopus-key", "AP|I-{A26}"),
    ("anthropic-key", "sk-|ant-api03-{w92}xAA"),
    ("anthropic-key", "sk-|ant-oat01-{w92}xAA"),
    ("openai-key", "sk-|proj-{w120}x"),
    ("openai-key", "sk-|svcacct-{w120}x"),
    ("openai-key", "s|k-{a20}T3Blbk|FJ{a20}"),
    ("openrouter-key", "sk-|or-v1-{h64}"),
    ("langfuse-key", "sk-|lf-{u}"),
    ("huggingface-token", "h|f_{L34}"),
    ("replicate-token", "r|8_{a37}"),
    ("groq-key", "gs|k_{a52}"),
    ("perplexity-key", "pp|lx-{a48}"),
    ("xai-key", "xa|i-{a80}"),
    ("cerebras-key", "cs|k-{l48}"),
    ("nvidia-key", "nv|api-{w63}x"),
    ("tavily-key", "tv|ly-{a32}"),
    ("langsmith-key", "ls|v2_pt_{h32}_{h10}"),
    ("pinecone-key", "pc|sk_{a6}_{a60}"),
    ("jina-key", "ji|na_{h32}{a28}"),
    ("elevenlabs-key", "s|k_{h48}"),
    ("firecrawl-key", "f|c-{h32}"),
    ("wandb-key", "wan|db_v1_{a70}"),
    ("runpod-key", "rp|a_{A40}{l6}"),
    ("slack-token", "xo|xb-{n12}-{n13}-{a24}"),
    ("slack-token", "xo|xp-{n12}-{n12}-{n12}-{h32}"),
    ("slack-token", "xa|pp-1-{A11}-{n13}-{h64}"),
    ("discord-token", "MT|{a24}.{a6}.{w37}x"),
    ("telegram-token", "{n10}:A|A{w33}x"),
    ("twilio-key", "S|K{h32}"),
    ("sendgrid-key", "S|G.{a22}.{a43}"),
    ("mailgun-key", "ke|y-{h32}"),
    ("mailchimp-key", "{h32}-us|21"),
    ("brevo-key", "xkey|sib-{h64}-{a16}"),
    ("resend-key", "r|e_{a8}_{a24}"),
    ("stripe-key", "sk_|live_{a24}"),
    ("stripe-key", "rk_|test_{a99}"),
    ("webhook-secret", "wh|sec_{b32}"),
    ("shopify-token", "shp|at_{h32}"),
    ("square-token", "sq0|csp-{w42}x"),
    ("square-token", "EA|AA{w60}x"),
    ("facebook-token", "EA|AG{a160}"),
    ("paypal-token", "access_|token$production${l16}${h32}"),
    ("paypal-token", "A2|1AA{w90}x"),
    ("plaid-token", "access-|sandbox-{u}"),
    ("razorpay-key", "rzp|_live_{a14}"),
    ("flutterwave-key", "FLW|SECK-{h32}-X"),
    ("adyen-key", "AQ|E{b120}=-{b42}=-{a16}"),
    ("duffel-token", "duf|fel_live_{w42}x"),
    ("easypost-key", "EZ|AK{a54}"),
    ("shippo-token", "ship|po_live_{h40}"),
    ("databricks-token", "da|pi{h32}"),
    ("newrelic-key", "NR|AK-{A27}"),
    ("newrelic-key", "{h32}FFFFNR|AL"),
    ("sentry-token", "sntr|ys_{b120}_{b43}"),
    ("sentry-token", "sntr|yu_{h64}"),
    ("grafana-token", "gl|sa_{a32}_{h8}"),
    ("grafana-token", "gl|c_{b100}"),
    ("pagerduty-key", "u|+{a18}"),
    ("dynatrace-token", "dt|0c01.{224}.{264}"),
    ("honeycomb-key", "hc|aik_{l58}"),
    ("vault-token", "hv|s.{a90}"),
    ("terraform-token", "{a14}.atlas|v1.{a67}"),
    ("pulumi-token", "pu|l-{h40}"),
    ("doppler-token", "dp|.st.prd.{a43}"),
    ("1password-token", "ops|_eyJ{w300}x"),
    ("1password-key", "A|3-{A6}-{A6}-{A5}-{A5}-{A5}"),
    ("infracost-key", "ic|o-{a32}"),
    ("harness-token", "pa|t.{w22}.{a24}.{a20}"),
    ("prefect-key", "pn|u_{a36}"),
    ("linear-key", "lin|_api_{a40}"),
    ("notion-token", "nt|n_{a46}"),
    ("notion-token", "sec|ret_{a43}"),
    ("figma-token", "fi|gd_{w39}x"),
    ("airtable-token", "pa|t{a14}.{h64}"),
    ("asana-token", "1/|{n16}:{h32}"),
    ("clickup-token", "pk|_{n8}_{A32}"),
    ("trello-token", "AT|TA{h64}{H8}"),
    ("typeform-token", "tf|p_{a44}_{a14}"),
    ("contentful-token", "CF|PAT-{w42}x"),
    ("hubspot-token", "pa|t-na1-{u}"),
    ("dropbox-token", "s|l.{w135}x"),
    ("mapbox-token", "sk.|eyJ{a80}.{a22}"),
    ("launchdarkly-key", "sd|k-{u}"),
    ("readme-key", "rd|me_{l70}"),
    ("adobe-secret", "p8|e-{a32}"),
    ("twitter-token", "AAAAAAAAAA|AAAAAAAAAAA{a80}"),
    ("authress-key", "scauth|_{l16}.{l5}.acc_{l12}.{a40}"),
    ("clickhouse-key", "4b|1d{a38}"),
    ("frameio-token", "fio|-u-{w63}x"),
    ("intra42-secret", "s-s4t2|ud-{h64}"),
    ("maxmind-key", "{a6}_{a29}_m|mk"),
    ("scalingo-token", "tk-|us-{w47}x"),
    ("settlemint-token", "sm_|pat_{a16}"),
    ("defined-networking-token", "dn|key-{w26}-{w51}x"),
    ("lob-key", "te|st_{h35}"),
    ("gocardless-token", "li|ve_{w39}x"),
    ("fireworks-key", "f|w_{a24}"),
    ("together-key", "tgp|_v1_{w42}x"),
    ("posthog-key", "ph|x_{a44}"),
    ("apify-token", "apify|_api_{a36}"),
    ("e2b-key", "e2|b_{h40}"),
    ("polar-token", "polar|_oat_{a43}"),
    ("flutterwave-key", "FLWSECK|_TEST-{h12}"),
    ("voyage-key", "pa|-{w42}x"),
    ("brave-key", "BS|A{w26}7"),
    ("infisical-token", "s|t.{u}.{h32}.{h32}"),
    ("unkey-token", "unk|ey_{a21}7"),
    ("stytch-secret", "secret|-live-{w39}x"),
    ("inngest-key", "sign|key-prod-{h64}"),
    ("trigger-key", "tr|_prod_{a20}"),
    ("cursor-key", "ke|y_{h64}"),
    ("intercom-token", "dG9|rO{b57}4="),
    ("rapidapi-key", "{a10}m|sh{a15}p1{a6}js|n{a12}"),
    ("k3s-token", "K1|0{h64}::server:{h32}"),
    ("nostr-key", "nse|c1{l58}"),
    ("grafana-token", "eyJr|Ijoi{b80}="),
    ("vault-token", "s|.{a22}4f"),
    ("stripe-key", "sk_|prod_{a24}"),
    ("token", "Z2h|wX{a44}"),
    ("token", "c2st|YW50L{a100}=="),
    ("private-key", "eyJ0eXBlIjoi|c2VydmljZV9hY2NvdW50{a300}"),
    ("age-key", "AGE-SEC|RET-KEY-1{A58}"),
    ("private-key", "xp|rv{a107}"),
    ("jwt", "ey|J{a33}.eyJ{w120}x.{w42}x"),
    ("password-hash", "$|2b$12${a53}"),
    ("password-hash", "$|6${a16}${a86}"),
    ("password-hash", "$|argon2id$v=19$m=65536,t=3,p=4${a22}${a43}"),
];

/// The contexts: `@` is the secret.
const SURROUNDINGS: &[&str] = &[
    "@",
    "{\"name\": \"ci\", \"value\": \"@\", \"ttl\": 3600}",
    "{\\\"auth\\\":{\\\"value\\\":\\\"@\\\"}}",
    "service:\n  replicas: 2\n  credential: @\n  port: 80\n",
    "LOG_LEVEL=debug\nSERVICE_CREDENTIAL=@\nPORT=80\n",
    "export SERVICE_CREDENTIAL='@' && make deploy",
    "const client = new Client({ id: 7, credential: \"@\" });",
    "client = Client(credential='@')\n",
    "2026-01-21T09:31:34Z WARN refused credential @ from 10.0.0.1",
    "I ran it with @, and it worked.",
    "use (@) or [@](https://host/x)",
    "line one\\nSERVICE_CREDENTIAL=@\\nline three",
    "curl -H 'X-Service: @' https://host/v1/items",
    "https://host/cb?state=1&credential=@&lang=en",
    "| key | `@` |\n| --- | --- |\n",
    "     3→SERVICE_CREDENTIAL=\"@\"\n     4→PORT=80",
    "<credential>@</credential>",
    "日本語 @ ütf é",
];

#[test]
fn every_form_is_redacted_in_every_surrounding() {
    let redactor = Redactor::new();
    let mut missed = Vec::new();
    for (seed, (kind, template)) in FORMS.iter().enumerate() {
        for (place, surrounding) in SURROUNDINGS.iter().enumerate() {
            let secret = secret(template, (seed * 100 + place) as u64 + 1);
            let text = surrounding.replace('@', &secret);
            let redacted = redactor.redact(&text);
            let mark = format!("[REDACTED:{kind}]");
            if find_leak(&redacted.text, &secret).is_some() || !redacted.text.contains(&mark) {
                missed.push(format!("{kind} {surrounding:?} {text:?} -> {:?}", redacted.text));
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn a_form_is_redacted_wherever_the_text_is_cut() {
    let redactor = Redactor::new();
    let mut rng = TestRng(7);
    for (seed, (kind, template)) in FORMS.iter().enumerate() {
        let secret = secret(template, seed as u64 + 1);
        let text = format!("some words before it, {secret}\tand other words behind it");
        let start = text.find(&secret).unwrap();
        for _ in 0..8 {
            let from = rng.below(start + 1);
            let to = text.len() - rng.below(text.len() - start - secret.len() + 1);
            let redacted = redactor.redact(&text[from..to]);
            assert_eq!(find_leak(&redacted.text, &secret), None, "{kind}: {:?}", &text[from..to]);
        }
    }
}

#[test]
fn each_kind_of_the_rules_is_tested_by_form_or_by_name() {
    let tested_by_name = super::named::kinds();
    let is_tested = |kind: &str| {
        FORMS.iter().any(|(tested, _)| *tested == kind) || tested_by_name.contains(&kind)
    };
    let missing: Vec<&str> =
        RULES.iter().map(|rule| rule.kind.as_str()).filter(|kind| !is_tested(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn placeholders_in_a_recognisable_form_are_not_redacted() {
    let redactor = Redactor::new();
    for text in [
        format!("export GITHUB_TOKEN={}", secret("gh|p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1)),
        format!("OPENAI_API_KEY={}", secret("sk-|proj-your-key-goes-here-please", 1)),
        format!("ANTHROPIC_API_KEY={}", secret("sk-|ant-...", 1)),
        format!("key: {}", secret("AK|IAIOSFODNN7EXAMPLE", 1)),
        format!("key: {}", secret("AI|zaXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX", 1)),
        "matches `gh[pousr]_[A-Za-z0-9]{36}`".to_owned(),
        "starts with ghp_ or github_pat_".to_owned(),
        "sk-learn, task-list-item-with-a-long-name, risk-based".to_owned(),
    ] {
        assert_eq!(redactor.redact(&text).text, text);
    }
}

//! PINs, codes of logins, and the numbers of cards and accounts.

use crate::tests::fake_secrets::{assert_kept, assert_replaced};

#[test]
fn pins_beside_their_names_are_redacted() {
    assert_replaced(&[
        ("4821", "my pin is ¤"),
        ("4821", "pin=¤"),
        ("4821", "pin = \"¤\""),
        ("483920", "the PIN of the alarm: ¤"),
        ("739164", "the pin code is ¤"),
        ("739164", "pin code ¤"),
        ("4821", "my pin-code: ¤."),
        ("4821", "Please set the PIN to ¤, thanks"),
        ("4821", "the PIN is now ¤"),
        ("4821", "meine PIN ist ¤"),
        ("4821", "Die PIN lautet ¤"),
        ("4821", "die PIN für die Karte ist ¤"),
        ("4821", "mon code PIN est ¤"),
        ("4821", "mi PIN es ¤"),
        ("4821", "il PIN è ¤"),
        ("4821", "the pin for my sim is ¤"),
        ("4821", "PIN (SIM): ¤"),
        ("4821", "the PIN to unlock it is ¤"),
        ("4821", "enter pin ¤ on the keypad"),
        ("4821", "user_pin=¤"),
        ("4821", "\"userPin\": \"¤\""),
        ("4821", "cardPin = ¤"),
        ("48213377", "PUK: ¤"),
        ("4821", "the door code is ¤"),
        ("48213", "Gate code: ¤"),
        ("1984", "what version is it? my pin is ¤"),
        ("20231101", "my pin is ¤"),
        ("4821", "kubectl create secret generic x --from-literal=card-pin=¤"),
    ]);
}

#[test]
fn other_pins_stay() {
    assert_kept(&[
        "pin=17",
        "GPIO pin 17",
        "pin: 12",
        "pin = 3",
        "\"pin\": 18",
        "PIN 1 of the connector",
        "set the GPIO pin = 1024",
        "the pin of the board is 1024",
        "pin the version to 4821",
        "pin for the version: 4821",
        "the pin is 4821 bytes long",
        "the pin is at 4821",
        "pin=2024.1.0, pin=4821abc, pin=2026-11-27",
        "pinned 4821",
        "enter pin 4821 of the GPIO header",
        "pin 4821",
        "the PIN to unlock it is in 4821.txt",
        "spin=4821",
        "opinion is 1234",
        "ping 4821",
        "pinCode2: 12, pinNumber 4821",
        "the door code of house 1234",
        "state code: 48201",
        "date code: 2324",
        "duplicate code: 1200 of 4000 lines",
        "the nightly pin is 20231101",
        "the edition pin is 2021",
        "nixpkgs pin=20231101",
        "toolchain pin: 20231101",
        "GPIO17 (PWM): pin: 1023",
        "LED2 pin = 4095",
        "servo2, pin: 1500",
        "the generated code is 4821",
        "PUK is a short name, PUK 2024",
    ]);
}

#[test]
fn one_time_codes_are_redacted() {
    assert_replaced(&[
        ("482913", "your code: ¤"),
        ("482913", "Your code is ¤."),
        ("482913", "2FA: ¤"),
        ("482 913", "my authenticator shows ¤"),
        ("482913", "the SMS says ¤"),
        ("482913", "Use code ¤ to log in"),
        ("482913", "I grabbed OTP ¤ from the mail"),
        ("482913", "const otp = '¤';"),
        ("482913", "Enter ¤ as the verification code"),
        ("482913", "I got an SMS. The code is ¤"),
        ("482913", "2FA login\ncode: ¤\n"),
        ("482913", "please use this code ¤ to sign in"),
        ("482 913", "You will get an SMS. Use the code ¤"),
        ("482913", "enter the code ¤ on the page"),
        ("482913", "My code: ¤"),
        ("482-913", "The verification is by SMS, your code is ¤"),
    ]);
}

#[test]
fn codes_of_programs_stay() {
    assert_kept(&[
        "code: 482913",
        "the code is 482913",
        "exit code: 482913 of the sms test",
        "the status code is 200123, and the OTP failed",
        "your code is 123456 bytes long",
        "2FA: 30 seconds",
        "otp = 4",
        "Use code 4829 for this",
        "the mfa module has 123456 lines",
        "use 482913 as the seed",
        "HTTP response code 200-299 is success",
        "a response code 400-499 means an error of the client",
        "license code 123456",
        "center code 123456",
        "our code is 100 000 times slower",
        "your code is 100000 times slower",
        "your code is 200-299 for success",
        "use code 200-299 for success, and use code 100000 for unknown errors",
    ]);
}

#[test]
fn recovery_codes_are_redacted() {
    assert_replaced(&[
        ("8f3k-d92m\nx0qp-w7z1\nb5n6-c4v8", "Recovery codes:\n¤"),
        ("1. 4829 1377\n2. 9921 0042", "Backup codes for Acme:\n¤\n"),
        ("8f3kd-92mx0", "the recovery code: ¤"),
        ("AB3F-9KQ2-X7LM-44PZ", "recovery key: ¤"),
        ("483920-112233-445566-778899-001122-334455-667788-990011", "Recovery Key:\n\n  ¤\n"),
    ]);
}

#[test]
fn texts_about_recovery_codes_stay() {
    assert_kept(&[
        "Recovery codes: store them safely",
        "Backup codes:\n- one-time use\n- sign-in page\n",
        "the recovery code: src/recovery2.rs",
        "the recovery key is XXXX-XXXX-XXXX-XXXX",
        "recovery key: not found",
    ]);
}

#[test]
fn numbers_of_cards_and_accounts_are_redacted() {
    assert_replaced(&[
        ("4539 5787 6362 1486", "My visa is ¤"),
        ("5425233430109903", "pay with card number: ¤, exp 11/28"),
        ("3742-454554-00126", "Amex ¤"),
        ("DE02 1203 0000 0000 2020 51", "my IBAN is ¤."),
        ("AT026000000001349870", "\"iban\": \"¤\""),
    ]);
}

#[test]
fn other_numbers_stay() {
    assert_kept(&[
        "card: 4242424242424242",
        "card number 4111 1111 1111 1111",
        "card 4539 5787 6362 1487",
        "the card has 1234567890123456 views",
        "4539 5787 6362 1486",
        "iban: DE89 3704 0044 0532 0130 00",
        "IBAN DE02 1203 0000 0000 2020 52",
        "validateIban(iban: string)",
    ]);
}

#[test]
fn the_line_break_after_recovery_codes_stays() {
    assert_replaced(&[
        ("12345678 23456789", "Backup codes: ¤\nThen run step 3."),
        ("12345678 23456789", "Backup codes: ¤\r\nThen run step 3."),
        ("- a1b2c-d3e4f\n- g5h6i-j7k8l", "Recovery codes:\n¤\n\nNext: deploy"),
        ("8f3kd-92mx0", "the recovery code: ¤ and more"),
    ]);
}

#[test]
fn one_time_codes_directly_after_a_sign_are_redacted() {
    assert_replaced(&[
        ("482913", "npm publish --otp=¤"),
        ("482913", "npm publish --otp ¤"),
        ("482913", "curl -d 'otp=¤' https://host"),
        ("482913", "https://host/verify?otp=¤&u=1"),
        ("482913", "mfa:¤"),
    ]);
    assert_kept(&[
        "otp=4829",
        "otp=4829134",
        "otp=482913px",
        "otp482913",
        "hotp=482913",
        "totp=482913.5",
        "erlang/otp:26.2.5",
        "arn:aws:iam::123456789012:mfa/482913",
    ]);
}

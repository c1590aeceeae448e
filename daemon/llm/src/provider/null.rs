//! The provider `none`, which sends nothing.

use crate::{
    error::{Error, Failure},
    model::Timestamp,
    ports::BoxFuture,
    price::Tariff,
    provider::{Call, Provider},
    reply::Completion,
};

#[derive(Clone, Copy, Debug)]
pub struct NullProvider;

impl Provider for NullProvider {
    fn name(&self) -> &'static str {
        "none"
    }

    fn model(&self) -> Option<&str> {
        None
    }

    fn tariff(&self) -> Option<Tariff> {
        Some(Tariff::FREE)
    }

    fn reach(&self, _: Timestamp) -> BoxFuture<'_, Result<String, Error>> {
        Box::pin(async { Err(Error::Off) })
    }

    fn ask<'a>(&'a self, _: &'a Call<'a>) -> BoxFuture<'a, Result<Completion, Failure>> {
        Box::pin(async { Err(Failure::lasting(Error::Off)) })
    }
}

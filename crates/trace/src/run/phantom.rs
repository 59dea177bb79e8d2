//! The phantom's records: the lines of `phantom-<pid>.jsonl`.

use serde::{Deserialize, Serialize};

macro_rules! rust_type {
    (text) => {
        String
    };
    ($number:ident) => {
        $number
    };
}

macro_rules! records {
    ($($(#[$doc:meta])+ $variant:ident $tag:literal: $record:ident { $($(#[$key_doc:meta])+ $key:ident: $type:ident,)+ })+) => {
        $(
            $(#[$doc])+
            #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
            pub struct $record {
                $($(#[$key_doc])+ pub $key: rust_type!($type),)+
            }
        )+

        /// A line of `phantom-<pid>.jsonl`.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum PhantomRecord {
            $($(#[$doc])+ #[serde(rename = $tag)] $variant($record),)+
        }
    };
}

wire::journal_records!(records);

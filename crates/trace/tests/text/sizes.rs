//! The sizes in the messages of the tables: as written, with the smallest and the largest size of the same form.

use trace::Bytes;
use trace::text::StatedBytes;

/// Nearest, lowest, highest.
pub(crate) const fn size(nearest: u64, lowest: u64, highest: u64) -> StatedBytes {
    StatedBytes { nearest: Bytes(nearest), lowest: Bytes(lowest), highest: Bytes(highest) }
}

/// A size that is stated to the byte.
pub(crate) const fn exactly(bytes: u64) -> StatedBytes {
    size(bytes, bytes, bytes)
}

pub(crate) const KIB_1_50: StatedBytes = size(1_536, 1_531, 1_541);
pub(crate) const KIB_30_25: StatedBytes = size(30_976, 30_971, 30_981);
pub(crate) const KIB_179_00: StatedBytes = size(183_296, 183_291, 183_301);
pub(crate) const KIB_195_50: StatedBytes = size(200_192, 200_187, 200_197);
pub(crate) const KIB_384_00: StatedBytes = size(393_216, 393_211, 393_221);
pub(crate) const MIB_1_81: StatedBytes = size(1_897_923, 1_892_680, 1_903_165);
pub(crate) const MIB_2_00: StatedBytes = size(2_097_152, 2_091_910, 2_102_394);
pub(crate) const MIB_7_61: StatedBytes = size(7_979_663, 7_974_421, 7_984_906);
pub(crate) const MIB_19_00: StatedBytes = size(19_922_944, 19_917_702, 19_928_186);
pub(crate) const MIB_20_00: StatedBytes = size(20_971_520, 20_966_278, 20_976_762);
pub(crate) const MIB_30_00: StatedBytes = size(31_457_280, 31_452_038, 31_462_522);
pub(crate) const MIB_36_00: StatedBytes = size(37_748_736, 37_743_494, 37_753_978);
pub(crate) const MIB_52_00: StatedBytes = size(54_525_952, 54_520_710, 54_531_194);
pub(crate) const MIB_85_83: StatedBytes = size(89_999_278, 89_994_036, 90_004_520);
pub(crate) const MIB_145_93: StatedBytes = size(153_018_696, 153_013_453, 153_023_938);
pub(crate) const MIB_192_00: StatedBytes = size(201_326_592, 201_321_350, 201_331_834);
pub(crate) const MIB_211_00: StatedBytes = size(221_249_536, 221_244_294, 221_254_778);
pub(crate) const MIB_220_17: StatedBytes = size(230_864_978, 230_859_736, 230_870_220);
pub(crate) const MIB_256_00: StatedBytes = size(268_435_456, 268_430_214, 268_440_698);
pub(crate) const MIB_295_52: StatedBytes = size(309_875_180, 309_869_937, 309_880_422);
pub(crate) const MIB_418_25: StatedBytes = size(438_566_912, 438_561_670, 438_572_154);
pub(crate) const MIB_511_18: StatedBytes = size(536_011_080, 536_005_837, 536_016_322);
pub(crate) const MIB_512_00: StatedBytes = size(536_870_912, 536_865_670, 536_876_154);
pub(crate) const MIB_533_00: StatedBytes = size(558_891_008, 558_885_766, 558_896_250);
pub(crate) const MIB_700_00: StatedBytes = size(734_003_200, 733_997_958, 734_008_442);
pub(crate) const MIB_781_59: StatedBytes = size(819_556_516, 819_551_273, 819_561_758);
pub(crate) const MIB_788_51: StatedBytes = size(826_812_662, 826_807_419, 826_817_904);
pub(crate) const MIB_1024_00: StatedBytes = size(1_073_741_824, 1_073_736_582, 1_073_741_824);
pub(crate) const GIB_1_02: StatedBytes = size(1_095_216_660, 1_089_847_952, 1_100_585_369);
pub(crate) const GIB_1_06: StatedBytes = size(1_138_166_333, 1_132_797_625, 1_143_535_042);
pub(crate) const GIB_1_21: StatedBytes = size(1_299_227_607, 1_293_858_898, 1_304_596_316);
pub(crate) const GIB_1_32: StatedBytes = size(1_417_339_208, 1_411_970_499, 1_422_707_916);
pub(crate) const GIB_1_71: StatedBytes = size(1_836_098_519, 1_830_729_810, 1_841_467_228);
pub(crate) const GIB_1_96: StatedBytes = size(2_104_533_975, 2_099_165_266, 2_109_902_684);
pub(crate) const GIB_2_00: StatedBytes = size(2_147_483_648, 2_142_114_939, 2_152_852_357);
pub(crate) const GIB_2_72: StatedBytes = size(2_920_577_761, 2_915_209_053, 2_925_946_470);
pub(crate) const GIB_3_00: StatedBytes = size(3_221_225_472, 3_215_856_763, 3_226_594_181);
pub(crate) const GIB_3_13: StatedBytes = size(3_360_811_909, 3_355_443_201, 3_366_180_618);
pub(crate) const GIB_3_40: StatedBytes = size(3_650_722_202, 3_645_353_493, 3_656_090_910);
pub(crate) const GIB_4_00: StatedBytes = size(4_294_967_296, 4_289_598_587, 4_300_336_005);
pub(crate) const GIB_5_03: StatedBytes = size(5_400_921_375, 5_395_552_666, 5_406_290_083);
pub(crate) const GIB_5_65: StatedBytes = size(6_066_641_306, 6_061_272_597, 6_072_010_014);
pub(crate) const GIB_6_00: StatedBytes = size(6_442_450_944, 6_437_082_235, 6_447_819_653);
pub(crate) const GIB_6_85: StatedBytes = size(7_355_131_494, 7_349_762_786, 7_360_500_203);
pub(crate) const GIB_7_33: StatedBytes = size(7_870_527_570, 7_865_158_861, 7_875_896_279);
pub(crate) const GIB_7_93: StatedBytes = size(8_514_772_664, 8_509_403_956, 8_520_141_373);
pub(crate) const GIB_8_00: StatedBytes = size(8_589_934_592, 8_584_565_883, 8_595_303_301);
pub(crate) const GIB_8_27: StatedBytes = size(8_879_844_884, 8_874_476_176, 8_885_213_593);
pub(crate) const GIB_9_01: StatedBytes = size(9_674_413_834, 9_669_045_126, 9_679_782_543);
pub(crate) const GIB_10_26: StatedBytes = size(11_016_591_114, 11_011_222_406, 11_021_959_823);
pub(crate) const GIB_11_59: StatedBytes = size(12_444_667_740, 12_439_299_032, 12_450_036_449);
pub(crate) const GIB_11_93: StatedBytes = size(12_809_739_960, 12_804_371_252, 12_815_108_669);
pub(crate) const GIB_12_00: StatedBytes = size(12_884_901_888, 12_879_533_179, 12_890_270_597);
pub(crate) const GIB_12_04: StatedBytes = size(12_927_851_561, 12_922_482_852, 12_933_220_270);
pub(crate) const GIB_12_27: StatedBytes = size(13_174_812_180, 13_169_443_472, 13_180_180_889);
pub(crate) const GIB_12_53: StatedBytes = size(13_453_985_055, 13_448_616_346, 13_459_353_763);
pub(crate) const GIB_15_11: StatedBytes = size(16_224_238_961, 16_218_870_252, 16_229_607_669);
pub(crate) const GIB_15_56: StatedBytes = size(16_707_422_781, 16_702_054_073, 16_712_791_490);
pub(crate) const GIB_15_90: StatedBytes = size(17_072_495_002, 17_067_126_293, 17_077_863_710);
pub(crate) const GIB_16_00: StatedBytes = size(17_179_869_184, 17_174_500_475, 17_185_237_893);
pub(crate) const GIB_20_48: StatedBytes = size(21_990_232_556, 21_984_863_847, 21_995_601_264);
pub(crate) const GIB_21_87: StatedBytes = size(23_482_733_691, 23_477_364_982, 23_488_102_399);
pub(crate) const GIB_22_10: StatedBytes = size(23_729_694_310, 23_724_325_602, 23_735_063_019);
pub(crate) const GIB_23_51: StatedBytes = size(25_243_670_282, 25_238_301_574, 25_249_038_991);
pub(crate) const GIB_23_64: StatedBytes = size(25_383_256_719, 25_377_888_011, 25_388_625_428);
pub(crate) const GIB_23_65: StatedBytes = size(25_393_994_138, 25_388_625_429, 25_399_362_846);
pub(crate) const GIB_24_00: StatedBytes = size(25_769_803_776, 25_764_435_067, 25_775_172_485);
pub(crate) const GIB_30_00: StatedBytes = size(32_212_254_720, 32_206_886_011, 32_217_623_429);
pub(crate) const GIB_39_39: StatedBytes = size(42_294_690_447, 42_289_321_739, 42_300_059_156);
pub(crate) const GIB_44_40: StatedBytes = size(47_674_136_986, 47_668_768_277, 47_679_505_694);
pub(crate) const GIB_49_47: StatedBytes = size(53_118_008_033, 53_112_639_325, 53_123_376_742);
pub(crate) const GIB_57_55: StatedBytes = size(61_793_841_971, 61_788_473_263, 61_799_210_680);
pub(crate) const GIB_60_96: StatedBytes = size(65_455_301_591, 65_449_932_882, 65_460_670_300);
pub(crate) const GIB_61_27: StatedBytes = size(65_788_161_556, 65_782_792_848, 65_793_530_265);
pub(crate) const GIB_64_00: StatedBytes = size(68_719_476_736, 68_714_108_027, 68_724_845_445);
pub(crate) const GIB_79_15: StatedBytes = size(84_986_665_370, 84_981_296_661, 84_992_034_078);
pub(crate) const GIB_146_27: StatedBytes = size(157_056_216_596, 157_050_847_888, 157_061_585_305);
pub(crate) const GIB_163_20: StatedBytes = size(175_234_665_677, 175_229_296_968, 175_240_034_385);
pub(crate) const GIB_191_98: StatedBytes = size(206_136_955_372, 206_131_586_663, 206_142_324_080);
pub(crate) const GIB_32768_00: StatedBytes = size(35_184_372_088_832, 35_184_366_720_123, 35_184_377_457_541);
